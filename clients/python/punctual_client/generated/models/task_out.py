from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane
from ..models.task_status import TaskStatus

if TYPE_CHECKING:
    from ..models.away_out import AwayOut
    from ..models.error_out import ErrorOut
    from ..models.progress_out import ProgressOut


T = TypeVar("T", bound="TaskOut")


@_attrs_define
class TaskOut:
    """A task as it stood when it was read. Durations are in seconds.

    Attributes:
        id (int):
        task_type (str):
        key (str):
        job (int | None): The job that fired it
        fire_time (datetime.datetime | None): The firing of the job that it is for
        manual (bool): Somebody triggered it; the schedule of the job did not
        status (TaskStatus): BLOCKED waits for other tasks, INIT for its time, FAIL for its next try. RUNNING is with a
            worker or on its way there, AWAY with somebody else, who reports its outcome. SUCCESS is done, DEAD gave up,
            CANCELLED was cancelled, skipped, expired or replaced.
        live (bool): It still has something to do
        execute_time (datetime.datetime): The time it was planned for
        due_at (datetime.datetime | None): When it runs next; null: it waits for nothing, or runs now
        was_due_at (datetime.datetime | None): When the run under way was due, else the last one
        allowed_at (datetime.datetime | None): When that run could start, if that was later: its limit, a paused lane,
            or planned after its time
        start_time (datetime.datetime | None): Of the run under way, else of the last one
        finish_time (datetime.datetime | None):
        progress (None | ProgressOut): Null: nothing runs, or its handler doesn't tell
        late_seconds (float | None):
        waited_seconds (float | None):
        lane (Lane): Priority classes, most urgent first.
        attempt (int): Failed tries since it last succeeded, rolled or was replayed
        retry_count (int): Failed tries over its whole life
        attempts (int): Tries over its whole life: those that failed, and one that runs or succeeded
        max_retry (int):
        repeat_after (float | None): It runs again this long after each run finishes
        expires_after (float | None):
        retry_for (float | None): It is retried until this long after execute_time, however often; null: max_retry times
        away (AwayOut | None): If somebody else has it: since when, and until when
        deferred_from (int | None): The task that handed this effect on
        deferred (list[int]): The tasks that its own effects were handed on to
        worker (None | str): Who runs it, or ran it last; null: nobody, or no longer known
        batch (None | UUID): The batch of that run
        error_code (str):
        error_msg (str):
        last_error (ErrorOut | None):
        payload (Any):
        result (Any): What the handler returned in its last run that succeeded; null: nothing, or nothing that is kept
        token (UUID): Stays the same over retries and replacement: hand it to other systems
        idem_key (None | str): The idempotency key it was scheduled with, by Python code or by a job
        asked_by (None | str): The person or API token that scheduled it; null: code did, or the schedule of its job
        created_at (datetime.datetime):
        updated_at (datetime.datetime):
    """

    id: int
    task_type: str
    key: str
    job: int | None
    fire_time: datetime.datetime | None
    manual: bool
    status: TaskStatus
    live: bool
    execute_time: datetime.datetime
    due_at: datetime.datetime | None
    was_due_at: datetime.datetime | None
    allowed_at: datetime.datetime | None
    start_time: datetime.datetime | None
    finish_time: datetime.datetime | None
    progress: None | ProgressOut
    late_seconds: float | None
    waited_seconds: float | None
    lane: Lane
    attempt: int
    retry_count: int
    attempts: int
    max_retry: int
    repeat_after: float | None
    expires_after: float | None
    retry_for: float | None
    away: AwayOut | None
    deferred_from: int | None
    deferred: list[int]
    worker: None | str
    batch: None | UUID
    error_code: str
    error_msg: str
    last_error: ErrorOut | None
    payload: Any
    result: Any
    token: UUID
    idem_key: None | str
    asked_by: None | str
    created_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.away_out import AwayOut  # noqa: PLC0415
        from ..models.error_out import ErrorOut  # noqa: PLC0415
        from ..models.progress_out import ProgressOut  # noqa: PLC0415

        id = self.id

        task_type = self.task_type

        key = self.key

        job: int | None
        job = self.job

        fire_time: None | str
        if isinstance(self.fire_time, datetime.datetime):
            fire_time = self.fire_time.isoformat()
        else:
            fire_time = self.fire_time

        manual = self.manual

        status = self.status.value

        live = self.live

        execute_time = self.execute_time.isoformat()

        due_at: None | str
        if isinstance(self.due_at, datetime.datetime):
            due_at = self.due_at.isoformat()
        else:
            due_at = self.due_at

        was_due_at: None | str
        if isinstance(self.was_due_at, datetime.datetime):
            was_due_at = self.was_due_at.isoformat()
        else:
            was_due_at = self.was_due_at

        allowed_at: None | str
        if isinstance(self.allowed_at, datetime.datetime):
            allowed_at = self.allowed_at.isoformat()
        else:
            allowed_at = self.allowed_at

        start_time: None | str
        if isinstance(self.start_time, datetime.datetime):
            start_time = self.start_time.isoformat()
        else:
            start_time = self.start_time

        finish_time: None | str
        if isinstance(self.finish_time, datetime.datetime):
            finish_time = self.finish_time.isoformat()
        else:
            finish_time = self.finish_time

        progress: dict[str, Any] | None
        if isinstance(self.progress, ProgressOut):
            progress = self.progress.to_dict()
        else:
            progress = self.progress

        late_seconds: float | None
        late_seconds = self.late_seconds

        waited_seconds: float | None
        waited_seconds = self.waited_seconds

        lane = self.lane.value

        attempt = self.attempt

        retry_count = self.retry_count

        attempts = self.attempts

        max_retry = self.max_retry

        repeat_after: float | None
        repeat_after = self.repeat_after

        expires_after: float | None
        expires_after = self.expires_after

        retry_for: float | None
        retry_for = self.retry_for

        away: dict[str, Any] | None
        if isinstance(self.away, AwayOut):
            away = self.away.to_dict()
        else:
            away = self.away

        deferred_from: int | None
        deferred_from = self.deferred_from

        deferred = self.deferred

        worker: None | str
        worker = self.worker

        batch: None | str
        if isinstance(self.batch, UUID):
            batch = str(self.batch)
        else:
            batch = self.batch

        error_code = self.error_code

        error_msg = self.error_msg

        last_error: dict[str, Any] | None
        if isinstance(self.last_error, ErrorOut):
            last_error = self.last_error.to_dict()
        else:
            last_error = self.last_error

        payload = self.payload

        result = self.result

        token = str(self.token)

        idem_key: None | str
        idem_key = self.idem_key

        asked_by: None | str
        asked_by = self.asked_by

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "task_type": task_type,
                "key": key,
                "job": job,
                "fire_time": fire_time,
                "manual": manual,
                "status": status,
                "live": live,
                "execute_time": execute_time,
                "due_at": due_at,
                "was_due_at": was_due_at,
                "allowed_at": allowed_at,
                "start_time": start_time,
                "finish_time": finish_time,
                "progress": progress,
                "late_seconds": late_seconds,
                "waited_seconds": waited_seconds,
                "lane": lane,
                "attempt": attempt,
                "retry_count": retry_count,
                "attempts": attempts,
                "max_retry": max_retry,
                "repeat_after": repeat_after,
                "expires_after": expires_after,
                "retry_for": retry_for,
                "away": away,
                "deferred_from": deferred_from,
                "deferred": deferred,
                "worker": worker,
                "batch": batch,
                "error_code": error_code,
                "error_msg": error_msg,
                "last_error": last_error,
                "payload": payload,
                "result": result,
                "token": token,
                "idem_key": idem_key,
                "asked_by": asked_by,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.away_out import AwayOut  # noqa: PLC0415
        from ..models.error_out import ErrorOut  # noqa: PLC0415
        from ..models.progress_out import ProgressOut  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        task_type = d.pop("task_type")

        key = d.pop("key")

        def _parse_job(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        job = _parse_job(d.pop("job"))

        def _parse_fire_time(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                fire_time_type_0 = datetime.datetime.fromisoformat(data)

                return fire_time_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        fire_time = _parse_fire_time(d.pop("fire_time"))

        manual = d.pop("manual")

        status = TaskStatus(d.pop("status"))

        live = d.pop("live")

        execute_time = datetime.datetime.fromisoformat(d.pop("execute_time"))

        def _parse_due_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                due_at_type_0 = datetime.datetime.fromisoformat(data)

                return due_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        due_at = _parse_due_at(d.pop("due_at"))

        def _parse_was_due_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                was_due_at_type_0 = datetime.datetime.fromisoformat(data)

                return was_due_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        was_due_at = _parse_was_due_at(d.pop("was_due_at"))

        def _parse_allowed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                allowed_at_type_0 = datetime.datetime.fromisoformat(data)

                return allowed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        allowed_at = _parse_allowed_at(d.pop("allowed_at"))

        def _parse_start_time(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                start_time_type_0 = datetime.datetime.fromisoformat(data)

                return start_time_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        start_time = _parse_start_time(d.pop("start_time"))

        def _parse_finish_time(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                finish_time_type_0 = datetime.datetime.fromisoformat(data)

                return finish_time_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        finish_time = _parse_finish_time(d.pop("finish_time"))

        def _parse_progress(data: object) -> None | ProgressOut:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                progress_type_0 = ProgressOut.from_dict(data)

                return progress_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ProgressOut, data)

        progress = _parse_progress(d.pop("progress"))

        def _parse_late_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        late_seconds = _parse_late_seconds(d.pop("late_seconds"))

        def _parse_waited_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        waited_seconds = _parse_waited_seconds(d.pop("waited_seconds"))

        lane = Lane(d.pop("lane"))

        attempt = d.pop("attempt")

        retry_count = d.pop("retry_count")

        attempts = d.pop("attempts")

        max_retry = d.pop("max_retry")

        def _parse_repeat_after(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        repeat_after = _parse_repeat_after(d.pop("repeat_after"))

        def _parse_expires_after(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        expires_after = _parse_expires_after(d.pop("expires_after"))

        def _parse_retry_for(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        retry_for = _parse_retry_for(d.pop("retry_for"))

        def _parse_away(data: object) -> AwayOut | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                away_type_0 = AwayOut.from_dict(data)

                return away_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AwayOut | None, data)

        away = _parse_away(d.pop("away"))

        def _parse_deferred_from(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        deferred_from = _parse_deferred_from(d.pop("deferred_from"))

        deferred = cast(list[int], d.pop("deferred"))

        def _parse_worker(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        worker = _parse_worker(d.pop("worker"))

        def _parse_batch(data: object) -> None | UUID:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                batch_type_0 = UUID(data)

                return batch_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UUID, data)

        batch = _parse_batch(d.pop("batch"))

        error_code = d.pop("error_code")

        error_msg = d.pop("error_msg")

        def _parse_last_error(data: object) -> ErrorOut | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                last_error_type_0 = ErrorOut.from_dict(data)

                return last_error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ErrorOut | None, data)

        last_error = _parse_last_error(d.pop("last_error"))

        payload = d.pop("payload")

        result = d.pop("result")

        token = UUID(d.pop("token"))

        def _parse_idem_key(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        idem_key = _parse_idem_key(d.pop("idem_key"))

        def _parse_asked_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        asked_by = _parse_asked_by(d.pop("asked_by"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        task_out = cls(
            id=id,
            task_type=task_type,
            key=key,
            job=job,
            fire_time=fire_time,
            manual=manual,
            status=status,
            live=live,
            execute_time=execute_time,
            due_at=due_at,
            was_due_at=was_due_at,
            allowed_at=allowed_at,
            start_time=start_time,
            finish_time=finish_time,
            progress=progress,
            late_seconds=late_seconds,
            waited_seconds=waited_seconds,
            lane=lane,
            attempt=attempt,
            retry_count=retry_count,
            attempts=attempts,
            max_retry=max_retry,
            repeat_after=repeat_after,
            expires_after=expires_after,
            retry_for=retry_for,
            away=away,
            deferred_from=deferred_from,
            deferred=deferred,
            worker=worker,
            batch=batch,
            error_code=error_code,
            error_msg=error_msg,
            last_error=last_error,
            payload=payload,
            result=result,
            token=token,
            idem_key=idem_key,
            asked_by=asked_by,
            created_at=created_at,
            updated_at=updated_at,
        )

        task_out.additional_properties = d
        return task_out

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
