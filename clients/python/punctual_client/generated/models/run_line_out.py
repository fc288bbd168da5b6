from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.run_state import RunState

if TYPE_CHECKING:
    from ..models.run_line_out_counts import RunLineOutCounts


T = TypeVar("T", bound="RunLineOut")


@_attrs_define
class RunLineOut:
    """A run as the list has it. `GET /runs/{run_id}` has its jobs and what waits for whom.

    Attributes:
        id (int):
        job (int): The first of the graph: its root, or the job that somebody triggered
        name (str): Of that job, when the run was made
        fire_time (datetime.datetime):
        state (RunState): How a run of a whole graph stands.
        jobs (int): How many jobs it has
        counts (RunLineOutCounts): How many of their tasks there are, by status
        failed (int): How many of them gave up, or were cancelled although there was something to do
        gone (int): How many are kept no longer
        created_at (datetime.datetime):
    """

    id: int
    job: int
    name: str
    fire_time: datetime.datetime
    state: RunState
    jobs: int
    counts: RunLineOutCounts
    failed: int
    gone: int
    created_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        job = self.job

        name = self.name

        fire_time = self.fire_time.isoformat()

        state = self.state.value

        jobs = self.jobs

        counts = self.counts.to_dict()

        failed = self.failed

        gone = self.gone

        created_at = self.created_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "job": job,
                "name": name,
                "fire_time": fire_time,
                "state": state,
                "jobs": jobs,
                "counts": counts,
                "failed": failed,
                "gone": gone,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.run_line_out_counts import RunLineOutCounts  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        job = d.pop("job")

        name = d.pop("name")

        fire_time = datetime.datetime.fromisoformat(d.pop("fire_time"))

        state = RunState(d.pop("state"))

        jobs = d.pop("jobs")

        counts = RunLineOutCounts.from_dict(d.pop("counts"))

        failed = d.pop("failed")

        gone = d.pop("gone")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        run_line_out = cls(
            id=id,
            job=job,
            name=name,
            fire_time=fire_time,
            state=state,
            jobs=jobs,
            counts=counts,
            failed=failed,
            gone=gone,
            created_at=created_at,
        )

        run_line_out.additional_properties = d
        return run_line_out

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
