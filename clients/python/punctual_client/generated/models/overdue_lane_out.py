from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane

T = TypeVar("T", bound="OverdueLaneOut")


@_attrs_define
class OverdueLaneOut:
    """
    Attributes:
        lane (Lane): Priority classes, most urgent first.
        tasks (int):
        since (datetime.datetime): When the first of them was due
        older (int): Overdue for longer than older_seconds
        outdated (int): Instances of jobs of which a later firing is overdue, too
    """

    lane: Lane
    tasks: int
    since: datetime.datetime
    older: int
    outdated: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lane = self.lane.value

        tasks = self.tasks

        since = self.since.isoformat()

        older = self.older

        outdated = self.outdated

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lane": lane,
                "tasks": tasks,
                "since": since,
                "older": older,
                "outdated": outdated,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        lane = Lane(d.pop("lane"))

        tasks = d.pop("tasks")

        since = datetime.datetime.fromisoformat(d.pop("since"))

        older = d.pop("older")

        outdated = d.pop("outdated")

        overdue_lane_out = cls(
            lane=lane,
            tasks=tasks,
            since=since,
            older=older,
            outdated=outdated,
        )

        overdue_lane_out.additional_properties = d
        return overdue_lane_out

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
