from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.alert_kind import AlertKind
from ..models.alert_outcome import AlertOutcome

T = TypeVar("T", bound="AlertOut")


@_attrs_define
class AlertOut:
    """
    Attributes:
        id (UUID): Stays the same however often it is sent: `webhook-id`, and part of the `Message-ID`
        channel (int):
        kind (AlertKind): Why somebody is told.
        title (str):
        created_at (datetime.datetime):
        attempts (int):
        outcome (AlertOutcome):
        error (str):
    """

    id: UUID
    channel: int
    kind: AlertKind
    title: str
    created_at: datetime.datetime
    attempts: int
    outcome: AlertOutcome
    error: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = str(self.id)

        channel = self.channel

        kind = self.kind.value

        title = self.title

        created_at = self.created_at.isoformat()

        attempts = self.attempts

        outcome = self.outcome.value

        error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "channel": channel,
                "kind": kind,
                "title": title,
                "created_at": created_at,
                "attempts": attempts,
                "outcome": outcome,
                "error": error,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = UUID(d.pop("id"))

        channel = d.pop("channel")

        kind = AlertKind(d.pop("kind"))

        title = d.pop("title")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        attempts = d.pop("attempts")

        outcome = AlertOutcome(d.pop("outcome"))

        error = d.pop("error")

        alert_out = cls(
            id=id,
            channel=channel,
            kind=kind,
            title=title,
            created_at=created_at,
            attempts=attempts,
            outcome=outcome,
            error=error,
        )

        alert_out.additional_properties = d
        return alert_out

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
