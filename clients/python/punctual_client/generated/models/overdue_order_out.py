from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane
from ..models.overdue_choice import OverdueChoice

T = TypeVar("T", bound="OverdueOrderOut")


@_attrs_define
class OverdueOrderOut:
    """
    Attributes:
        choice (OverdueChoice): What to do with what is overdue. `run`: all of it. `latest`: of each job only its latest
            firing. `shift`: all of it, later. `expire`: what is not overdue for too long.
        lanes (list[Lane]):
        by (str):
        reason (str):
        tasks (int): Dealt with so far
    """

    choice: OverdueChoice
    lanes: list[Lane]
    by: str
    reason: str
    tasks: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        choice = self.choice.value

        lanes = []
        for lanes_item_data in self.lanes:
            lanes_item = lanes_item_data.value
            lanes.append(lanes_item)

        by = self.by

        reason = self.reason

        tasks = self.tasks

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "choice": choice,
                "lanes": lanes,
                "by": by,
                "reason": reason,
                "tasks": tasks,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        choice = OverdueChoice(d.pop("choice"))

        lanes = []
        _lanes = d.pop("lanes")
        for lanes_item_data in _lanes:
            lanes_item = Lane(lanes_item_data)

            lanes.append(lanes_item)

        by = d.pop("by")

        reason = d.pop("reason")

        tasks = d.pop("tasks")

        overdue_order_out = cls(
            choice=choice,
            lanes=lanes,
            by=by,
            reason=reason,
            tasks=tasks,
        )

        overdue_order_out.additional_properties = d
        return overdue_order_out

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
