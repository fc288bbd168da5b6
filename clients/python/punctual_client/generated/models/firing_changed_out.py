from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.firing_outcome import FiringOutcome

T = TypeVar("T", bound="FiringChangedOut")


@_attrs_define
class FiringChangedOut:
    """What was decided for one firing of a job.

    Attributes:
        job (int):
        fire_time (datetime.datetime): When it would run by the schedule
        outcome (FiringOutcome): What was decided for one firing of a job. RESTORED: it comes by the schedule again.
        moved_to (datetime.datetime | None): When it runs instead
    """

    job: int
    fire_time: datetime.datetime
    outcome: FiringOutcome
    moved_to: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        job = self.job

        fire_time = self.fire_time.isoformat()

        outcome = self.outcome.value

        moved_to: None | str
        if isinstance(self.moved_to, datetime.datetime):
            moved_to = self.moved_to.isoformat()
        else:
            moved_to = self.moved_to

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "job": job,
                "fire_time": fire_time,
                "outcome": outcome,
                "moved_to": moved_to,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        job = d.pop("job")

        fire_time = datetime.datetime.fromisoformat(d.pop("fire_time"))

        outcome = FiringOutcome(d.pop("outcome"))

        def _parse_moved_to(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                moved_to_type_0 = datetime.datetime.fromisoformat(data)

                return moved_to_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        moved_to = _parse_moved_to(d.pop("moved_to"))

        firing_changed_out = cls(
            job=job,
            fire_time=fire_time,
            outcome=outcome,
            moved_to=moved_to,
        )

        firing_changed_out.additional_properties = d
        return firing_changed_out

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
