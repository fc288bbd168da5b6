from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.log_line_out import LogLineOut


T = TypeVar("T", bound="LogOut")


@_attrs_define
class LogOut:
    """What one try has logged: the one under way, or any before it, whatever became of it.

    Attributes:
        id (int):
        attempt (int): 1 for the first try since the last success, roll or replay
        replayed_at (datetime.datetime | None): The replay that it came after; null: none, or one that is no longer kept
        worker (str):
        started_at (datetime.datetime): When its batch began
        dropped (int): Lines before these, which are not kept
        lines (list[LogLineOut]):
    """

    id: int
    attempt: int
    replayed_at: datetime.datetime | None
    worker: str
    started_at: datetime.datetime
    dropped: int
    lines: list[LogLineOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        attempt = self.attempt

        replayed_at: None | str
        if isinstance(self.replayed_at, datetime.datetime):
            replayed_at = self.replayed_at.isoformat()
        else:
            replayed_at = self.replayed_at

        worker = self.worker

        started_at = self.started_at.isoformat()

        dropped = self.dropped

        lines = []
        for lines_item_data in self.lines:
            lines_item = lines_item_data.to_dict()
            lines.append(lines_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "attempt": attempt,
                "replayed_at": replayed_at,
                "worker": worker,
                "started_at": started_at,
                "dropped": dropped,
                "lines": lines,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.log_line_out import LogLineOut  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        attempt = d.pop("attempt")

        def _parse_replayed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                replayed_at_type_0 = datetime.datetime.fromisoformat(data)

                return replayed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        replayed_at = _parse_replayed_at(d.pop("replayed_at"))

        worker = d.pop("worker")

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        dropped = d.pop("dropped")

        lines = []
        _lines = d.pop("lines")
        for lines_item_data in _lines:
            lines_item = LogLineOut.from_dict(lines_item_data)

            lines.append(lines_item)

        log_out = cls(
            id=id,
            attempt=attempt,
            replayed_at=replayed_at,
            worker=worker,
            started_at=started_at,
            dropped=dropped,
            lines=lines,
        )

        log_out.additional_properties = d
        return log_out

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
