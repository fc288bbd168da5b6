from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.catch_up import CatchUp
from ..models.dst_gap import DstGap
from ..models.dst_repeat import DstRepeat
from ..models.if_parent_fails import IfParentFails
from ..models.lane import Lane
from ..models.on_day_off import OnDayOff
from ..models.overlap import Overlap
from ..models.when import When
from ..types import UNSET, Unset

T = TypeVar("T", bound="DraftIn")


@_attrs_define
class DraftIn:
    """A job as far as it is filled in.

    Attributes:
        name (None | str | Unset):
        task_type (None | str | Unset):
        payload (Any | Unset):
        cron (None | str | Unset): 5 fields as in cron, or 6 with seconds first; see docs/cron.md
        every (int | None | Unset): Seconds between two firings
        at (datetime.datetime | None | Unset): One time
        timezone (None | str | Unset): IANA name
        dst_gap (DstGap | None | Unset):
        dst_repeat (DstRepeat | None | Unset):
        calendar (None | str | Unset): The name of a calendar whose days off the job keeps
        on_day_off (None | OnDayOff | Unset): What becomes of a firing on a day off
        lane (Lane | None | Unset): Left out: the handler's
        max_retry (int | None | Unset): Tries after the first; left out: the handler's
        backoff (list[float] | None | Unset): Seconds before each retry; the last repeats
        timeout (float | None | Unset): Seconds
        expires_after (float | None | Unset): Seconds; an instance later than this is not run
        start_at (datetime.datetime | None | Unset):
        end_at (datetime.datetime | None | Unset):
        max_runs (int | None | Unset):
        jitter (int | None | Unset): Seconds
        catch_up (CatchUp | None | Unset):
        catch_up_window (int | None | Unset): Seconds
        catch_up_most (int | None | Unset):
        parents (list[str] | None | Unset): Names of the jobs that it waits for; such a job has no schedule of its own
        when (None | Unset | When): What it waits for: that all parents succeeded, are over, or one failed
        if_parent_fails (IfParentFails | None | Unset):
        overlap (None | Overlap | Unset): What a firing does while an older instance is under way
        reason (None | str | Unset): Why; kept in the audit
        delay (float | None | Unset): Seconds from now, instead of `at`
    """

    name: None | str | Unset = UNSET
    task_type: None | str | Unset = UNSET
    payload: Any | Unset = UNSET
    cron: None | str | Unset = UNSET
    every: int | None | Unset = UNSET
    at: datetime.datetime | None | Unset = UNSET
    timezone: None | str | Unset = UNSET
    dst_gap: DstGap | None | Unset = UNSET
    dst_repeat: DstRepeat | None | Unset = UNSET
    calendar: None | str | Unset = UNSET
    on_day_off: None | OnDayOff | Unset = UNSET
    lane: Lane | None | Unset = UNSET
    max_retry: int | None | Unset = UNSET
    backoff: list[float] | None | Unset = UNSET
    timeout: float | None | Unset = UNSET
    expires_after: float | None | Unset = UNSET
    start_at: datetime.datetime | None | Unset = UNSET
    end_at: datetime.datetime | None | Unset = UNSET
    max_runs: int | None | Unset = UNSET
    jitter: int | None | Unset = UNSET
    catch_up: CatchUp | None | Unset = UNSET
    catch_up_window: int | None | Unset = UNSET
    catch_up_most: int | None | Unset = UNSET
    parents: list[str] | None | Unset = UNSET
    when: None | Unset | When = UNSET
    if_parent_fails: IfParentFails | None | Unset = UNSET
    overlap: None | Overlap | Unset = UNSET
    reason: None | str | Unset = UNSET
    delay: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        task_type: None | str | Unset
        if isinstance(self.task_type, Unset):
            task_type = UNSET
        else:
            task_type = self.task_type

        payload = self.payload

        cron: None | str | Unset
        if isinstance(self.cron, Unset):
            cron = UNSET
        else:
            cron = self.cron

        every: int | None | Unset
        if isinstance(self.every, Unset):
            every = UNSET
        else:
            every = self.every

        at: None | str | Unset
        if isinstance(self.at, Unset):
            at = UNSET
        elif isinstance(self.at, datetime.datetime):
            at = self.at.isoformat()
        else:
            at = self.at

        timezone: None | str | Unset
        if isinstance(self.timezone, Unset):
            timezone = UNSET
        else:
            timezone = self.timezone

        dst_gap: None | str | Unset
        if isinstance(self.dst_gap, Unset):
            dst_gap = UNSET
        elif isinstance(self.dst_gap, DstGap):
            dst_gap = self.dst_gap.value
        else:
            dst_gap = self.dst_gap

        dst_repeat: None | str | Unset
        if isinstance(self.dst_repeat, Unset):
            dst_repeat = UNSET
        elif isinstance(self.dst_repeat, DstRepeat):
            dst_repeat = self.dst_repeat.value
        else:
            dst_repeat = self.dst_repeat

        calendar: None | str | Unset
        if isinstance(self.calendar, Unset):
            calendar = UNSET
        else:
            calendar = self.calendar

        on_day_off: None | str | Unset
        if isinstance(self.on_day_off, Unset):
            on_day_off = UNSET
        elif isinstance(self.on_day_off, OnDayOff):
            on_day_off = self.on_day_off.value
        else:
            on_day_off = self.on_day_off

        lane: None | str | Unset
        if isinstance(self.lane, Unset):
            lane = UNSET
        elif isinstance(self.lane, Lane):
            lane = self.lane.value
        else:
            lane = self.lane

        max_retry: int | None | Unset
        if isinstance(self.max_retry, Unset):
            max_retry = UNSET
        else:
            max_retry = self.max_retry

        backoff: list[float] | None | Unset
        if isinstance(self.backoff, Unset):
            backoff = UNSET
        elif isinstance(self.backoff, list):
            backoff = self.backoff

        else:
            backoff = self.backoff

        timeout: float | None | Unset
        if isinstance(self.timeout, Unset):
            timeout = UNSET
        else:
            timeout = self.timeout

        expires_after: float | None | Unset
        if isinstance(self.expires_after, Unset):
            expires_after = UNSET
        else:
            expires_after = self.expires_after

        start_at: None | str | Unset
        if isinstance(self.start_at, Unset):
            start_at = UNSET
        elif isinstance(self.start_at, datetime.datetime):
            start_at = self.start_at.isoformat()
        else:
            start_at = self.start_at

        end_at: None | str | Unset
        if isinstance(self.end_at, Unset):
            end_at = UNSET
        elif isinstance(self.end_at, datetime.datetime):
            end_at = self.end_at.isoformat()
        else:
            end_at = self.end_at

        max_runs: int | None | Unset
        if isinstance(self.max_runs, Unset):
            max_runs = UNSET
        else:
            max_runs = self.max_runs

        jitter: int | None | Unset
        if isinstance(self.jitter, Unset):
            jitter = UNSET
        else:
            jitter = self.jitter

        catch_up: None | str | Unset
        if isinstance(self.catch_up, Unset):
            catch_up = UNSET
        elif isinstance(self.catch_up, CatchUp):
            catch_up = self.catch_up.value
        else:
            catch_up = self.catch_up

        catch_up_window: int | None | Unset
        if isinstance(self.catch_up_window, Unset):
            catch_up_window = UNSET
        else:
            catch_up_window = self.catch_up_window

        catch_up_most: int | None | Unset
        if isinstance(self.catch_up_most, Unset):
            catch_up_most = UNSET
        else:
            catch_up_most = self.catch_up_most

        parents: list[str] | None | Unset
        if isinstance(self.parents, Unset):
            parents = UNSET
        elif isinstance(self.parents, list):
            parents = self.parents

        else:
            parents = self.parents

        when: None | str | Unset
        if isinstance(self.when, Unset):
            when = UNSET
        elif isinstance(self.when, When):
            when = self.when.value
        else:
            when = self.when

        if_parent_fails: None | str | Unset
        if isinstance(self.if_parent_fails, Unset):
            if_parent_fails = UNSET
        elif isinstance(self.if_parent_fails, IfParentFails):
            if_parent_fails = self.if_parent_fails.value
        else:
            if_parent_fails = self.if_parent_fails

        overlap: None | str | Unset
        if isinstance(self.overlap, Unset):
            overlap = UNSET
        elif isinstance(self.overlap, Overlap):
            overlap = self.overlap.value
        else:
            overlap = self.overlap

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        delay: float | None | Unset
        if isinstance(self.delay, Unset):
            delay = UNSET
        else:
            delay = self.delay

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
        if task_type is not UNSET:
            field_dict["task_type"] = task_type
        if payload is not UNSET:
            field_dict["payload"] = payload
        if cron is not UNSET:
            field_dict["cron"] = cron
        if every is not UNSET:
            field_dict["every"] = every
        if at is not UNSET:
            field_dict["at"] = at
        if timezone is not UNSET:
            field_dict["timezone"] = timezone
        if dst_gap is not UNSET:
            field_dict["dst_gap"] = dst_gap
        if dst_repeat is not UNSET:
            field_dict["dst_repeat"] = dst_repeat
        if calendar is not UNSET:
            field_dict["calendar"] = calendar
        if on_day_off is not UNSET:
            field_dict["on_day_off"] = on_day_off
        if lane is not UNSET:
            field_dict["lane"] = lane
        if max_retry is not UNSET:
            field_dict["max_retry"] = max_retry
        if backoff is not UNSET:
            field_dict["backoff"] = backoff
        if timeout is not UNSET:
            field_dict["timeout"] = timeout
        if expires_after is not UNSET:
            field_dict["expires_after"] = expires_after
        if start_at is not UNSET:
            field_dict["start_at"] = start_at
        if end_at is not UNSET:
            field_dict["end_at"] = end_at
        if max_runs is not UNSET:
            field_dict["max_runs"] = max_runs
        if jitter is not UNSET:
            field_dict["jitter"] = jitter
        if catch_up is not UNSET:
            field_dict["catch_up"] = catch_up
        if catch_up_window is not UNSET:
            field_dict["catch_up_window"] = catch_up_window
        if catch_up_most is not UNSET:
            field_dict["catch_up_most"] = catch_up_most
        if parents is not UNSET:
            field_dict["parents"] = parents
        if when is not UNSET:
            field_dict["when"] = when
        if if_parent_fails is not UNSET:
            field_dict["if_parent_fails"] = if_parent_fails
        if overlap is not UNSET:
            field_dict["overlap"] = overlap
        if reason is not UNSET:
            field_dict["reason"] = reason
        if delay is not UNSET:
            field_dict["delay"] = delay

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_task_type(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        task_type = _parse_task_type(d.pop("task_type", UNSET))

        payload = d.pop("payload", UNSET)

        def _parse_cron(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cron = _parse_cron(d.pop("cron", UNSET))

        def _parse_every(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        every = _parse_every(d.pop("every", UNSET))

        def _parse_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                at_type_0 = datetime.datetime.fromisoformat(data)

                return at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        at = _parse_at(d.pop("at", UNSET))

        def _parse_timezone(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        timezone = _parse_timezone(d.pop("timezone", UNSET))

        def _parse_dst_gap(data: object) -> DstGap | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                dst_gap_type_0 = DstGap(data)

                return dst_gap_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DstGap | None | Unset, data)

        dst_gap = _parse_dst_gap(d.pop("dst_gap", UNSET))

        def _parse_dst_repeat(data: object) -> DstRepeat | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                dst_repeat_type_0 = DstRepeat(data)

                return dst_repeat_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DstRepeat | None | Unset, data)

        dst_repeat = _parse_dst_repeat(d.pop("dst_repeat", UNSET))

        def _parse_calendar(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        calendar = _parse_calendar(d.pop("calendar", UNSET))

        def _parse_on_day_off(data: object) -> None | OnDayOff | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                on_day_off_type_0 = OnDayOff(data)

                return on_day_off_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OnDayOff | Unset, data)

        on_day_off = _parse_on_day_off(d.pop("on_day_off", UNSET))

        def _parse_lane(data: object) -> Lane | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                lane_type_0 = Lane(data)

                return lane_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Lane | None | Unset, data)

        lane = _parse_lane(d.pop("lane", UNSET))

        def _parse_max_retry(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_retry = _parse_max_retry(d.pop("max_retry", UNSET))

        def _parse_backoff(data: object) -> list[float] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                backoff_type_0 = cast(list[float], data)

                return backoff_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[float] | None | Unset, data)

        backoff = _parse_backoff(d.pop("backoff", UNSET))

        def _parse_timeout(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        timeout = _parse_timeout(d.pop("timeout", UNSET))

        def _parse_expires_after(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        expires_after = _parse_expires_after(d.pop("expires_after", UNSET))

        def _parse_start_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                start_at_type_0 = datetime.datetime.fromisoformat(data)

                return start_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        start_at = _parse_start_at(d.pop("start_at", UNSET))

        def _parse_end_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                end_at_type_0 = datetime.datetime.fromisoformat(data)

                return end_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        end_at = _parse_end_at(d.pop("end_at", UNSET))

        def _parse_max_runs(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_runs = _parse_max_runs(d.pop("max_runs", UNSET))

        def _parse_jitter(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        jitter = _parse_jitter(d.pop("jitter", UNSET))

        def _parse_catch_up(data: object) -> CatchUp | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                catch_up_type_0 = CatchUp(data)

                return catch_up_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CatchUp | None | Unset, data)

        catch_up = _parse_catch_up(d.pop("catch_up", UNSET))

        def _parse_catch_up_window(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        catch_up_window = _parse_catch_up_window(d.pop("catch_up_window", UNSET))

        def _parse_catch_up_most(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        catch_up_most = _parse_catch_up_most(d.pop("catch_up_most", UNSET))

        def _parse_parents(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                parents_type_0 = cast(list[str], data)

                return parents_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        parents = _parse_parents(d.pop("parents", UNSET))

        def _parse_when(data: object) -> None | Unset | When:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                when_type_0 = When(data)

                return when_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | When, data)

        when = _parse_when(d.pop("when", UNSET))

        def _parse_if_parent_fails(data: object) -> IfParentFails | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                if_parent_fails_type_0 = IfParentFails(data)

                return if_parent_fails_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(IfParentFails | None | Unset, data)

        if_parent_fails = _parse_if_parent_fails(d.pop("if_parent_fails", UNSET))

        def _parse_overlap(data: object) -> None | Overlap | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                overlap_type_0 = Overlap(data)

                return overlap_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Overlap | Unset, data)

        overlap = _parse_overlap(d.pop("overlap", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        def _parse_delay(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        delay = _parse_delay(d.pop("delay", UNSET))

        draft_in = cls(
            name=name,
            task_type=task_type,
            payload=payload,
            cron=cron,
            every=every,
            at=at,
            timezone=timezone,
            dst_gap=dst_gap,
            dst_repeat=dst_repeat,
            calendar=calendar,
            on_day_off=on_day_off,
            lane=lane,
            max_retry=max_retry,
            backoff=backoff,
            timeout=timeout,
            expires_after=expires_after,
            start_at=start_at,
            end_at=end_at,
            max_runs=max_runs,
            jitter=jitter,
            catch_up=catch_up,
            catch_up_window=catch_up_window,
            catch_up_most=catch_up_most,
            parents=parents,
            when=when,
            if_parent_fails=if_parent_fails,
            overlap=overlap,
            reason=reason,
            delay=delay,
        )

        return draft_in
