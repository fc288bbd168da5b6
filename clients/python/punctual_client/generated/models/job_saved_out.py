from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.catch_up import CatchUp
from ..models.dst_gap import DstGap
from ..models.dst_repeat import DstRepeat
from ..models.if_parent_fails import IfParentFails
from ..models.job_status import JobStatus
from ..models.lane import Lane
from ..models.on_day_off import OnDayOff
from ..models.on_resume import OnResume
from ..models.overlap import Overlap
from ..models.when import When

if TYPE_CHECKING:
    from ..models.advice_out import AdviceOut
    from ..models.declared_out import DeclaredOut


T = TypeVar("T", bound="JobSavedOut")


@_attrs_define
class JobSavedOut:
    """A job as it was saved, and what whoever saved it should know.

    Attributes:
        id (int):
        name (str):
        revision (int): Grows with every change; also in `ETag`
        task_type (str):
        payload (Any):
        cron (None | str):
        every (int | None):
        at (datetime.datetime | None):
        words (str): The schedule, for people
        timezone (str):
        dst_gap (DstGap): A time that the clock skips in spring: left out, or moved past the gap.
        dst_repeat (DstRepeat): A time that comes twice in autumn: fires once, or both times.
        calendar (None | str): The calendar whose days off it keeps
        on_day_off (OnDayOff): A firing on a day off: it falls out, or comes on the next working day at the same time of
            day.
        lane (Lane): Priority classes, most urgent first.
        max_retry (int):
        backoff (list[float] | None):
        timeout (float | None):
        expires_after (float | None):
        start_at (datetime.datetime | None):
        end_at (datetime.datetime | None):
        max_runs (int | None):
        jitter (int):
        catch_up (CatchUp): Firings that nobody planned in time, say because no beat was alive.
        catch_up_window (int):
        catch_up_most (int):
        parents (list[str]): Names of the jobs that it waits for
        when (When): What a job waits for.
        if_parent_fails (IfParentFails): What becomes of an instance that waits for a success which did not come.
        overlap (Overlap): An instance whose time comes while an older one of its job is under way.
        status (JobStatus):
        pause_reason (str):
        paused_by (str):
        paused_until (datetime.datetime | None):
        on_resume (OnResume): Firings that fell into a pause.
        declared (DeclaredOut | None): The file that declares it; null: none does
        created_at (datetime.datetime):
        updated_at (datetime.datetime):
        advice (AdviceOut | None): It makes a peak of the load worse; null: it makes none worse
    """

    id: int
    name: str
    revision: int
    task_type: str
    payload: Any
    cron: None | str
    every: int | None
    at: datetime.datetime | None
    words: str
    timezone: str
    dst_gap: DstGap
    dst_repeat: DstRepeat
    calendar: None | str
    on_day_off: OnDayOff
    lane: Lane
    max_retry: int
    backoff: list[float] | None
    timeout: float | None
    expires_after: float | None
    start_at: datetime.datetime | None
    end_at: datetime.datetime | None
    max_runs: int | None
    jitter: int
    catch_up: CatchUp
    catch_up_window: int
    catch_up_most: int
    parents: list[str]
    when: When
    if_parent_fails: IfParentFails
    overlap: Overlap
    status: JobStatus
    pause_reason: str
    paused_by: str
    paused_until: datetime.datetime | None
    on_resume: OnResume
    declared: DeclaredOut | None
    created_at: datetime.datetime
    updated_at: datetime.datetime
    advice: AdviceOut | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.advice_out import AdviceOut  # noqa: PLC0415
        from ..models.declared_out import DeclaredOut  # noqa: PLC0415

        id = self.id

        name = self.name

        revision = self.revision

        task_type = self.task_type

        payload = self.payload

        cron: None | str
        cron = self.cron

        every: int | None
        every = self.every

        at: None | str
        if isinstance(self.at, datetime.datetime):
            at = self.at.isoformat()
        else:
            at = self.at

        words = self.words

        timezone = self.timezone

        dst_gap = self.dst_gap.value

        dst_repeat = self.dst_repeat.value

        calendar: None | str
        calendar = self.calendar

        on_day_off = self.on_day_off.value

        lane = self.lane.value

        max_retry = self.max_retry

        backoff: list[float] | None
        if isinstance(self.backoff, list):
            backoff = self.backoff

        else:
            backoff = self.backoff

        timeout: float | None
        timeout = self.timeout

        expires_after: float | None
        expires_after = self.expires_after

        start_at: None | str
        if isinstance(self.start_at, datetime.datetime):
            start_at = self.start_at.isoformat()
        else:
            start_at = self.start_at

        end_at: None | str
        if isinstance(self.end_at, datetime.datetime):
            end_at = self.end_at.isoformat()
        else:
            end_at = self.end_at

        max_runs: int | None
        max_runs = self.max_runs

        jitter = self.jitter

        catch_up = self.catch_up.value

        catch_up_window = self.catch_up_window

        catch_up_most = self.catch_up_most

        parents = self.parents

        when = self.when.value

        if_parent_fails = self.if_parent_fails.value

        overlap = self.overlap.value

        status = self.status.value

        pause_reason = self.pause_reason

        paused_by = self.paused_by

        paused_until: None | str
        if isinstance(self.paused_until, datetime.datetime):
            paused_until = self.paused_until.isoformat()
        else:
            paused_until = self.paused_until

        on_resume = self.on_resume.value

        declared: dict[str, Any] | None
        if isinstance(self.declared, DeclaredOut):
            declared = self.declared.to_dict()
        else:
            declared = self.declared

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        advice: dict[str, Any] | None
        if isinstance(self.advice, AdviceOut):
            advice = self.advice.to_dict()
        else:
            advice = self.advice

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "revision": revision,
                "task_type": task_type,
                "payload": payload,
                "cron": cron,
                "every": every,
                "at": at,
                "words": words,
                "timezone": timezone,
                "dst_gap": dst_gap,
                "dst_repeat": dst_repeat,
                "calendar": calendar,
                "on_day_off": on_day_off,
                "lane": lane,
                "max_retry": max_retry,
                "backoff": backoff,
                "timeout": timeout,
                "expires_after": expires_after,
                "start_at": start_at,
                "end_at": end_at,
                "max_runs": max_runs,
                "jitter": jitter,
                "catch_up": catch_up,
                "catch_up_window": catch_up_window,
                "catch_up_most": catch_up_most,
                "parents": parents,
                "when": when,
                "if_parent_fails": if_parent_fails,
                "overlap": overlap,
                "status": status,
                "pause_reason": pause_reason,
                "paused_by": paused_by,
                "paused_until": paused_until,
                "on_resume": on_resume,
                "declared": declared,
                "created_at": created_at,
                "updated_at": updated_at,
                "advice": advice,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.advice_out import AdviceOut  # noqa: PLC0415
        from ..models.declared_out import DeclaredOut  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        revision = d.pop("revision")

        task_type = d.pop("task_type")

        payload = d.pop("payload")

        def _parse_cron(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        cron = _parse_cron(d.pop("cron"))

        def _parse_every(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        every = _parse_every(d.pop("every"))

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

        words = d.pop("words")

        timezone = d.pop("timezone")

        dst_gap = DstGap(d.pop("dst_gap"))

        dst_repeat = DstRepeat(d.pop("dst_repeat"))

        def _parse_calendar(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        calendar = _parse_calendar(d.pop("calendar"))

        on_day_off = OnDayOff(d.pop("on_day_off"))

        lane = Lane(d.pop("lane"))

        max_retry = d.pop("max_retry")

        def _parse_backoff(data: object) -> list[float] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                backoff_type_0 = cast(list[float], data)

                return backoff_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[float] | None, data)

        backoff = _parse_backoff(d.pop("backoff"))

        def _parse_timeout(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        timeout = _parse_timeout(d.pop("timeout"))

        def _parse_expires_after(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        expires_after = _parse_expires_after(d.pop("expires_after"))

        def _parse_start_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                start_at_type_0 = datetime.datetime.fromisoformat(data)

                return start_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        start_at = _parse_start_at(d.pop("start_at"))

        def _parse_end_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                end_at_type_0 = datetime.datetime.fromisoformat(data)

                return end_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        end_at = _parse_end_at(d.pop("end_at"))

        def _parse_max_runs(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_runs = _parse_max_runs(d.pop("max_runs"))

        jitter = d.pop("jitter")

        catch_up = CatchUp(d.pop("catch_up"))

        catch_up_window = d.pop("catch_up_window")

        catch_up_most = d.pop("catch_up_most")

        parents = cast(list[str], d.pop("parents"))

        when = When(d.pop("when"))

        if_parent_fails = IfParentFails(d.pop("if_parent_fails"))

        overlap = Overlap(d.pop("overlap"))

        status = JobStatus(d.pop("status"))

        pause_reason = d.pop("pause_reason")

        paused_by = d.pop("paused_by")

        def _parse_paused_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                paused_until_type_0 = datetime.datetime.fromisoformat(data)

                return paused_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        paused_until = _parse_paused_until(d.pop("paused_until"))

        on_resume = OnResume(d.pop("on_resume"))

        def _parse_declared(data: object) -> DeclaredOut | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                declared_type_0 = DeclaredOut.from_dict(data)

                return declared_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeclaredOut | None, data)

        declared = _parse_declared(d.pop("declared"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_advice(data: object) -> AdviceOut | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                advice_type_0 = AdviceOut.from_dict(data)

                return advice_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AdviceOut | None, data)

        advice = _parse_advice(d.pop("advice"))

        job_saved_out = cls(
            id=id,
            name=name,
            revision=revision,
            task_type=task_type,
            payload=payload,
            cron=cron,
            every=every,
            at=at,
            words=words,
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
            status=status,
            pause_reason=pause_reason,
            paused_by=paused_by,
            paused_until=paused_until,
            on_resume=on_resume,
            declared=declared,
            created_at=created_at,
            updated_at=updated_at,
            advice=advice,
        )

        job_saved_out.additional_properties = d
        return job_saved_out

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
