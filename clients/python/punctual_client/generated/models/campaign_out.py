from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.backfill_which import BackfillWhich
from ..models.campaign_state import CampaignState
from ..models.release_lane import ReleaseLane

if TYPE_CHECKING:
    from ..models.campaign_out_counts import CampaignOutCounts


T = TypeVar("T", bound="CampaignOut")


@_attrs_define
class CampaignOut:
    """
    Attributes:
        id (int):
        kind (str):
        state (CampaignState):
        held_by (None | str): While it is RUNNING: the safeguard that holds its next step, or `recovery`; null: none
            does
        actor (str):
        reason (str):
        selection (str): Which tasks, in words
        operation (UUID): Of its audit entries, one for each task
        task_type (None | str):
        cap (int):
        rate (float | None):
        most_running (int | None): Of what it releases, so many may not be over yet
        lane (None | ReleaseLane): Where tasks wait that it released; null: nowhere else, or it releases none
        at (datetime.datetime | None):
        by_seconds (float | None): Of a move: so much later, or earlier
        over_seconds (float | None): Of a move: spread over so long, from `at` on
        undoes (None | UUID): Of an undo: the operation that it undoes
        which (BackfillWhich | None): Of a backfill: which firings
        total (int): Tasks that were chosen when it began
        more (bool): More tasks matched than were chosen
        done (int): Tasks that it has dealt with
        counts (CampaignOutCounts): How many of these got which answer
        waiting (int): Released, and not over yet
        succeeded (int):
        died (int): Died again
        otherwise (int): Cancelled or replaced meanwhile
        failures (int): Steps that failed in a row; it is tried again
        created_at (datetime.datetime):
        finished_at (datetime.datetime | None):
    """

    id: int
    kind: str
    state: CampaignState
    held_by: None | str
    actor: str
    reason: str
    selection: str
    operation: UUID
    task_type: None | str
    cap: int
    rate: float | None
    most_running: int | None
    lane: None | ReleaseLane
    at: datetime.datetime | None
    by_seconds: float | None
    over_seconds: float | None
    undoes: None | UUID
    which: BackfillWhich | None
    total: int
    more: bool
    done: int
    counts: CampaignOutCounts
    waiting: int
    succeeded: int
    died: int
    otherwise: int
    failures: int
    created_at: datetime.datetime
    finished_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        kind = self.kind

        state = self.state.value

        held_by: None | str
        held_by = self.held_by

        actor = self.actor

        reason = self.reason

        selection = self.selection

        operation = str(self.operation)

        task_type: None | str
        task_type = self.task_type

        cap = self.cap

        rate: float | None
        rate = self.rate

        most_running: int | None
        most_running = self.most_running

        lane: None | str
        if isinstance(self.lane, ReleaseLane):
            lane = self.lane.value
        else:
            lane = self.lane

        at: None | str
        if isinstance(self.at, datetime.datetime):
            at = self.at.isoformat()
        else:
            at = self.at

        by_seconds: float | None
        by_seconds = self.by_seconds

        over_seconds: float | None
        over_seconds = self.over_seconds

        undoes: None | str
        if isinstance(self.undoes, UUID):
            undoes = str(self.undoes)
        else:
            undoes = self.undoes

        which: None | str
        if isinstance(self.which, BackfillWhich):
            which = self.which.value
        else:
            which = self.which

        total = self.total

        more = self.more

        done = self.done

        counts = self.counts.to_dict()

        waiting = self.waiting

        succeeded = self.succeeded

        died = self.died

        otherwise = self.otherwise

        failures = self.failures

        created_at = self.created_at.isoformat()

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "state": state,
                "held_by": held_by,
                "actor": actor,
                "reason": reason,
                "selection": selection,
                "operation": operation,
                "task_type": task_type,
                "cap": cap,
                "rate": rate,
                "most_running": most_running,
                "lane": lane,
                "at": at,
                "by_seconds": by_seconds,
                "over_seconds": over_seconds,
                "undoes": undoes,
                "which": which,
                "total": total,
                "more": more,
                "done": done,
                "counts": counts,
                "waiting": waiting,
                "succeeded": succeeded,
                "died": died,
                "otherwise": otherwise,
                "failures": failures,
                "created_at": created_at,
                "finished_at": finished_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.campaign_out_counts import CampaignOutCounts  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        kind = d.pop("kind")

        state = CampaignState(d.pop("state"))

        def _parse_held_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        held_by = _parse_held_by(d.pop("held_by"))

        actor = d.pop("actor")

        reason = d.pop("reason")

        selection = d.pop("selection")

        operation = UUID(d.pop("operation"))

        def _parse_task_type(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        task_type = _parse_task_type(d.pop("task_type"))

        cap = d.pop("cap")

        def _parse_rate(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        rate = _parse_rate(d.pop("rate"))

        def _parse_most_running(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        most_running = _parse_most_running(d.pop("most_running"))

        def _parse_lane(data: object) -> None | ReleaseLane:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                lane_type_0 = ReleaseLane(data)

                return lane_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReleaseLane, data)

        lane = _parse_lane(d.pop("lane"))

        def _parse_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                at_type_0 = datetime.datetime.fromisoformat(data)

                return at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        at = _parse_at(d.pop("at"))

        def _parse_by_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        by_seconds = _parse_by_seconds(d.pop("by_seconds"))

        def _parse_over_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        over_seconds = _parse_over_seconds(d.pop("over_seconds"))

        def _parse_undoes(data: object) -> None | UUID:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                undoes_type_0 = UUID(data)

                return undoes_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UUID, data)

        undoes = _parse_undoes(d.pop("undoes"))

        def _parse_which(data: object) -> BackfillWhich | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                which_type_0 = BackfillWhich(data)

                return which_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BackfillWhich | None, data)

        which = _parse_which(d.pop("which"))

        total = d.pop("total")

        more = d.pop("more")

        done = d.pop("done")

        counts = CampaignOutCounts.from_dict(d.pop("counts"))

        waiting = d.pop("waiting")

        succeeded = d.pop("succeeded")

        died = d.pop("died")

        otherwise = d.pop("otherwise")

        failures = d.pop("failures")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

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

        campaign_out = cls(
            id=id,
            kind=kind,
            state=state,
            held_by=held_by,
            actor=actor,
            reason=reason,
            selection=selection,
            operation=operation,
            task_type=task_type,
            cap=cap,
            rate=rate,
            most_running=most_running,
            lane=lane,
            at=at,
            by_seconds=by_seconds,
            over_seconds=over_seconds,
            undoes=undoes,
            which=which,
            total=total,
            more=more,
            done=done,
            counts=counts,
            waiting=waiting,
            succeeded=succeeded,
            died=died,
            otherwise=otherwise,
            failures=failures,
            created_at=created_at,
            finished_at=finished_at,
        )

        campaign_out.additional_properties = d
        return campaign_out

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
