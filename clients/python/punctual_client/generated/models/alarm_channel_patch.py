from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AlarmChannelPatch")


@_attrs_define
class AlarmChannelPatch:
    """The fields to change. The kind and the secret stay.

    Attributes:
        name (None | str | Unset):
        url (None | str | Unset): Where a webhook or a chat is called
        to (list[str] | None | Unset): Mail addresses
        most_per_hour (int | None | Unset): Beyond it, alerts are sent together
        enabled (bool | None | Unset):
        reason (None | str | Unset): Why; kept in the audit
    """

    name: None | str | Unset = UNSET
    url: None | str | Unset = UNSET
    to: list[str] | None | Unset = UNSET
    most_per_hour: int | None | Unset = UNSET
    enabled: bool | None | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        url: None | str | Unset
        if isinstance(self.url, Unset):
            url = UNSET
        else:
            url = self.url

        to: list[str] | None | Unset
        if isinstance(self.to, Unset):
            to = UNSET
        elif isinstance(self.to, list):
            to = self.to

        else:
            to = self.to

        most_per_hour: int | None | Unset
        if isinstance(self.most_per_hour, Unset):
            most_per_hour = UNSET
        else:
            most_per_hour = self.most_per_hour

        enabled: bool | None | Unset
        if isinstance(self.enabled, Unset):
            enabled = UNSET
        else:
            enabled = self.enabled

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
        if url is not UNSET:
            field_dict["url"] = url
        if to is not UNSET:
            field_dict["to"] = to
        if most_per_hour is not UNSET:
            field_dict["most_per_hour"] = most_per_hour
        if enabled is not UNSET:
            field_dict["enabled"] = enabled
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        url = _parse_url(d.pop("url", UNSET))

        def _parse_to(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                to_type_0 = cast(list[str], data)

                return to_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        to = _parse_to(d.pop("to", UNSET))

        def _parse_most_per_hour(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        most_per_hour = _parse_most_per_hour(d.pop("most_per_hour", UNSET))

        def _parse_enabled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        enabled = _parse_enabled(d.pop("enabled", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        alarm_channel_patch = cls(
            name=name,
            url=url,
            to=to,
            most_per_hour=most_per_hour,
            enabled=enabled,
            reason=reason,
        )

        return alarm_channel_patch
