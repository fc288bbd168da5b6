from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane
from ..models.recovery_grade import RecoveryGrade
from ..models.recovery_status import RecoveryStatus
from ..models.trouble_sign import TroubleSign

if TYPE_CHECKING:
    from ..models.recovery_step_out import RecoveryStepOut


T = TypeVar("T", bound="RecoveryOut")


@_attrs_define
class RecoveryOut:
    """
    Attributes:
        id (int):
        incident (str):
        status (RecoveryStatus): RECOVERING until its last step is done.
        resumed (int): Shards that no live beat dispatched, and that are dispatched again
        lanes_resumed (list[Lane]): Lanes that it held, and that go on
        replayed (int): Events that subscribers get again
        dlq_moved (int): Dead letters whose tasks run again
        grade (RecoveryGrade): P1: nothing was dispatched. P2: it was, but late.
        runs (int): How often it was begun or went on
        by (str):
        reason (str):
        began_at (datetime.datetime): When the incident began
        started_at (datetime.datetime):
        finished_at (datetime.datetime | None):
        seconds (float | None): From the beginning of the incident to the last step
        trouble_since (datetime.datetime): The first sign of trouble that the database knew
        trouble_sign (TroubleSign): The first sign of a trouble.
        rto_seconds (float | None): From that sign to the last step
        rpo_seconds (float | None): At most so much of what was committed before may be lost; null: not measured
        steps (list[RecoveryStepOut]):
    """

    id: int
    incident: str
    status: RecoveryStatus
    resumed: int
    lanes_resumed: list[Lane]
    replayed: int
    dlq_moved: int
    grade: RecoveryGrade
    runs: int
    by: str
    reason: str
    began_at: datetime.datetime
    started_at: datetime.datetime
    finished_at: datetime.datetime | None
    seconds: float | None
    trouble_since: datetime.datetime
    trouble_sign: TroubleSign
    rto_seconds: float | None
    rpo_seconds: float | None
    steps: list[RecoveryStepOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        incident = self.incident

        status = self.status.value

        resumed = self.resumed

        lanes_resumed = []
        for lanes_resumed_item_data in self.lanes_resumed:
            lanes_resumed_item = lanes_resumed_item_data.value
            lanes_resumed.append(lanes_resumed_item)

        replayed = self.replayed

        dlq_moved = self.dlq_moved

        grade = self.grade.value

        runs = self.runs

        by = self.by

        reason = self.reason

        began_at = self.began_at.isoformat()

        started_at = self.started_at.isoformat()

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        seconds: float | None
        seconds = self.seconds

        trouble_since = self.trouble_since.isoformat()

        trouble_sign = self.trouble_sign.value

        rto_seconds: float | None
        rto_seconds = self.rto_seconds

        rpo_seconds: float | None
        rpo_seconds = self.rpo_seconds

        steps = []
        for steps_item_data in self.steps:
            steps_item = steps_item_data.to_dict()
            steps.append(steps_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "incident": incident,
                "status": status,
                "resumed": resumed,
                "lanes_resumed": lanes_resumed,
                "replayed": replayed,
                "dlqMoved": dlq_moved,
                "grade": grade,
                "runs": runs,
                "by": by,
                "reason": reason,
                "began_at": began_at,
                "started_at": started_at,
                "finished_at": finished_at,
                "seconds": seconds,
                "trouble_since": trouble_since,
                "trouble_sign": trouble_sign,
                "rto_seconds": rto_seconds,
                "rpo_seconds": rpo_seconds,
                "steps": steps,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.recovery_step_out import RecoveryStepOut  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        incident = d.pop("incident")

        status = RecoveryStatus(d.pop("status"))

        resumed = d.pop("resumed")

        lanes_resumed = []
        _lanes_resumed = d.pop("lanes_resumed")
        for lanes_resumed_item_data in _lanes_resumed:
            lanes_resumed_item = Lane(lanes_resumed_item_data)

            lanes_resumed.append(lanes_resumed_item)

        replayed = d.pop("replayed")

        dlq_moved = d.pop("dlqMoved")

        grade = RecoveryGrade(d.pop("grade"))

        runs = d.pop("runs")

        by = d.pop("by")

        reason = d.pop("reason")

        began_at = datetime.datetime.fromisoformat(d.pop("began_at"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        def _parse_finished_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                finished_at_type_0 = datetime.datetime.fromisoformat(data)

                return finished_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))

        def _parse_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        seconds = _parse_seconds(d.pop("seconds"))

        trouble_since = datetime.datetime.fromisoformat(d.pop("trouble_since"))

        trouble_sign = TroubleSign(d.pop("trouble_sign"))

        def _parse_rto_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        rto_seconds = _parse_rto_seconds(d.pop("rto_seconds"))

        def _parse_rpo_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        rpo_seconds = _parse_rpo_seconds(d.pop("rpo_seconds"))

        steps = []
        _steps = d.pop("steps")
        for steps_item_data in _steps:
            steps_item = RecoveryStepOut.from_dict(steps_item_data)

            steps.append(steps_item)

        recovery_out = cls(
            id=id,
            incident=incident,
            status=status,
            resumed=resumed,
            lanes_resumed=lanes_resumed,
            replayed=replayed,
            dlq_moved=dlq_moved,
            grade=grade,
            runs=runs,
            by=by,
            reason=reason,
            began_at=began_at,
            started_at=started_at,
            finished_at=finished_at,
            seconds=seconds,
            trouble_since=trouble_since,
            trouble_sign=trouble_sign,
            rto_seconds=rto_seconds,
            rpo_seconds=rpo_seconds,
            steps=steps,
        )

        recovery_out.additional_properties = d
        return recovery_out

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
