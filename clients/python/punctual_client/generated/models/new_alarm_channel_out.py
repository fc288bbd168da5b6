from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.alarm_scope import AlarmScope
from ..models.channel_kind import ChannelKind

T = TypeVar("T", bound="NewAlarmChannelOut")


@_attrs_define
class NewAlarmChannelOut:
    """A new channel, with the secret that signs what is sent to it: this is the only time that it is shown.

    Attributes:
        id (int):
        revision (int):
        scope (AlarmScope):
        name (str):
        kind (ChannelKind):
        shown (str): Where it leads, without what may be secret about it
        most_per_hour (int):
        enabled (bool):
        failing_since (datetime.datetime | None): Nothing could be sent since then
        error (str): Of the last try, if that failed
        sent_at (datetime.datetime | None): When something was last sent
        created_at (datetime.datetime):
        updated_at (datetime.datetime):
        secret (None | str): For webhooks, as in the Standard Webhooks scheme; otherwise null
    """

    id: int
    revision: int
    scope: AlarmScope
    name: str
    kind: ChannelKind
    shown: str
    most_per_hour: int
    enabled: bool
    failing_since: datetime.datetime | None
    error: str
    sent_at: datetime.datetime | None
    created_at: datetime.datetime
    updated_at: datetime.datetime
    secret: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        revision = self.revision

        scope = self.scope.value

        name = self.name

        kind = self.kind.value

        shown = self.shown

        most_per_hour = self.most_per_hour

        enabled = self.enabled

        failing_since: None | str
        if isinstance(self.failing_since, datetime.datetime):
            failing_since = self.failing_since.isoformat()
        else:
            failing_since = self.failing_since

        error = self.error

        sent_at: None | str
        if isinstance(self.sent_at, datetime.datetime):
            sent_at = self.sent_at.isoformat()
        else:
            sent_at = self.sent_at

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        secret: None | str
        secret = self.secret

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "revision": revision,
                "scope": scope,
                "name": name,
                "kind": kind,
                "shown": shown,
                "most_per_hour": most_per_hour,
                "enabled": enabled,
                "failing_since": failing_since,
                "error": error,
                "sent_at": sent_at,
                "created_at": created_at,
                "updated_at": updated_at,
                "secret": secret,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        revision = d.pop("revision")

        scope = AlarmScope(d.pop("scope"))

        name = d.pop("name")

        kind = ChannelKind(d.pop("kind"))

        shown = d.pop("shown")

        most_per_hour = d.pop("most_per_hour")

        enabled = d.pop("enabled")

        def _parse_failing_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                failing_since_type_0 = datetime.datetime.fromisoformat(data)

                return failing_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        failing_since = _parse_failing_since(d.pop("failing_since"))

        error = d.pop("error")

        def _parse_sent_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                sent_at_type_0 = datetime.datetime.fromisoformat(data)

                return sent_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        sent_at = _parse_sent_at(d.pop("sent_at"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_secret(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        secret = _parse_secret(d.pop("secret"))

        new_alarm_channel_out = cls(
            id=id,
            revision=revision,
            scope=scope,
            name=name,
            kind=kind,
            shown=shown,
            most_per_hour=most_per_hour,
            enabled=enabled,
            failing_since=failing_since,
            error=error,
            sent_at=sent_at,
            created_at=created_at,
            updated_at=updated_at,
            secret=secret,
        )

        new_alarm_channel_out.additional_properties = d
        return new_alarm_channel_out

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
