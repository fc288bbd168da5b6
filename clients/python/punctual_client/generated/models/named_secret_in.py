from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="NamedSecretIn")


@_attrs_define
class NamedSecretIn:
    """What it is from now on.

    Attributes:
        value (None | str | Unset): Left out: one that signs is made, and told in this answer alone
        hosts (list[str] | None | Unset): The only hosts it may be sent to; left out: as it is, or anywhere
        keep_old (bool | Unset): The old value signs, too, until it is withdrawn Default: False.
        reason (None | str | Unset): Why; kept in the audit
    """

    value: None | str | Unset = UNSET
    hosts: list[str] | None | Unset = UNSET
    keep_old: bool | Unset = False
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        value: None | str | Unset
        if isinstance(self.value, Unset):
            value = UNSET
        else:
            value = self.value

        hosts: list[str] | None | Unset
        if isinstance(self.hosts, Unset):
            hosts = UNSET
        elif isinstance(self.hosts, list):
            hosts = self.hosts

        else:
            hosts = self.hosts

        keep_old = self.keep_old

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if value is not UNSET:
            field_dict["value"] = value
        if hosts is not UNSET:
            field_dict["hosts"] = hosts
        if keep_old is not UNSET:
            field_dict["keep_old"] = keep_old
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_value(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        value = _parse_value(d.pop("value", UNSET))

        def _parse_hosts(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                hosts_type_0 = cast(list[str], data)

                return hosts_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        hosts = _parse_hosts(d.pop("hosts", UNSET))

        keep_old = d.pop("keep_old", UNSET)

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        named_secret_in = cls(
            value=value,
            hosts=hosts,
            keep_old=keep_old,
            reason=reason,
        )

        return named_secret_in
