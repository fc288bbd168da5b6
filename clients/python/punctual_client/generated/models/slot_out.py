from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SlotOut")


@_attrs_define
class SlotOut:
    """One firing.

    Attributes:
        job (int):
        fire_time (datetime.datetime):
        task_id (int | None): The dead instance that is replayed; null: one is made
    """

    job: int
    fire_time: datetime.datetime
    task_id: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        job = self.job

        fire_time = self.fire_time.isoformat()

        task_id: int | None
        task_id = self.task_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "job": job,
                "fire_time": fire_time,
                "task_id": task_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        job = d.pop("job")

        fire_time = datetime.datetime.fromisoformat(d.pop("fire_time"))

        def _parse_task_id(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        task_id = _parse_task_id(d.pop("task_id"))

        slot_out = cls(
            job=job,
            fire_time=fire_time,
            task_id=task_id,
        )

        slot_out.additional_properties = d
        return slot_out

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
