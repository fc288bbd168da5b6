from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.backfill_which import BackfillWhich
from ..models.release_lane import ReleaseLane
from ..types import UNSET, Unset

T = TypeVar("T", bound="BackfillsIn")


@_attrs_define
class BackfillsIn:
    """The same, for several jobs.

    Attributes:
        since (datetime.datetime): The first firing is at this instant, or after it
        jobs (list[int]):
        until (datetime.datetime | None | Unset): The last one is at this instant, or before it; null: now
        which (BackfillWhich | Unset): `missing`: firings without an instance; each gets the identity of a scheduled
            one. `failed`: firings whose instance is dead; that is replayed. `all`: each of them once more, with an identity
            of its own. Default: BackfillWhich.MISSING.
        newest_first (bool | Unset): In this order, instead of the oldest first Default: False.
        descendants (bool | Unset): Whether what comes after the job in its graph comes along, and waits for it Default:
            True.
        cap (int | Unset): If there are more than this, nothing is begun Default: 5000.
        rate (float | None | Unset): Instances a second; null: no limit
        most_running (int | None | Unset): So many may not be over yet; null: no limit
        lane (ReleaseLane | Unset): Where tasks wait that a campaign makes run again; `own`: each in its own lane.
            Default: ReleaseLane.BACKFILL.
        dry_run (bool | Unset): Only say what would be done Default: False.
        reason (None | str | Unset): Why; kept in the audit
    """

    since: datetime.datetime
    jobs: list[int]
    until: datetime.datetime | None | Unset = UNSET
    which: BackfillWhich | Unset = BackfillWhich.MISSING
    newest_first: bool | Unset = False
    descendants: bool | Unset = True
    cap: int | Unset = 5000
    rate: float | None | Unset = UNSET
    most_running: int | None | Unset = UNSET
    lane: ReleaseLane | Unset = ReleaseLane.BACKFILL
    dry_run: bool | Unset = False
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        since = self.since.isoformat()

        jobs = self.jobs

        until: None | str | Unset
        if isinstance(self.until, Unset):
            until = UNSET
        elif isinstance(self.until, datetime.datetime):
            until = self.until.isoformat()
        else:
            until = self.until

        which: str | Unset = UNSET
        if not isinstance(self.which, Unset):
            which = self.which.value

        newest_first = self.newest_first

        descendants = self.descendants

        cap = self.cap

        rate: float | None | Unset
        if isinstance(self.rate, Unset):
            rate = UNSET
        else:
            rate = self.rate

        most_running: int | None | Unset
        if isinstance(self.most_running, Unset):
            most_running = UNSET
        else:
            most_running = self.most_running

        lane: str | Unset = UNSET
        if not isinstance(self.lane, Unset):
            lane = self.lane.value

        dry_run = self.dry_run

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "since": since,
                "jobs": jobs,
            }
        )
        if until is not UNSET:
            field_dict["until"] = until
        if which is not UNSET:
            field_dict["which"] = which
        if newest_first is not UNSET:
            field_dict["newest_first"] = newest_first
        if descendants is not UNSET:
            field_dict["descendants"] = descendants
        if cap is not UNSET:
            field_dict["cap"] = cap
        if rate is not UNSET:
            field_dict["rate"] = rate
        if most_running is not UNSET:
            field_dict["most_running"] = most_running
        if lane is not UNSET:
            field_dict["lane"] = lane
        if dry_run is not UNSET:
            field_dict["dry_run"] = dry_run
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        since = datetime.datetime.fromisoformat(d.pop("since"))

        jobs = cast(list[int], d.pop("jobs"))

        def _parse_until(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                until_type_0 = datetime.datetime.fromisoformat(data)

                return until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        until = _parse_until(d.pop("until", UNSET))

        _which = d.pop("which", UNSET)
        which: BackfillWhich | Unset
        if isinstance(_which, Unset):
            which = UNSET
        else:
            which = BackfillWhich(_which)

        newest_first = d.pop("newest_first", UNSET)

        descendants = d.pop("descendants", UNSET)

        cap = d.pop("cap", UNSET)

        def _parse_rate(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rate = _parse_rate(d.pop("rate", UNSET))

        def _parse_most_running(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        most_running = _parse_most_running(d.pop("most_running", UNSET))

        _lane = d.pop("lane", UNSET)
        lane: ReleaseLane | Unset
        if isinstance(_lane, Unset):
            lane = UNSET
        else:
            lane = ReleaseLane(_lane)

        dry_run = d.pop("dry_run", UNSET)

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        backfills_in = cls(
            since=since,
            jobs=jobs,
            until=until,
            which=which,
            newest_first=newest_first,
            descendants=descendants,
            cap=cap,
            rate=rate,
            most_running=most_running,
            lane=lane,
            dry_run=dry_run,
            reason=reason,
        )

        return backfills_in
