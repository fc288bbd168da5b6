"""A shop that uses everything tasks_app offers: mypy in strict mode has nothing to say about it.

A new public name has to be used here; tests/typecheck/test_typing.py looks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection

from django_punctual import (
    INTERNAL_TENANT,
    Addresses,
    Answer,
    Arguments,
    AttemptInfo,
    Away,
    Backoff,
    BaseHandler,
    BatchHandler,
    Cancelled,
    Event,
    InvalidTask,
    Link,
    Operated,
    Operator,
    Outcome,
    PunctualError,
    QuotaExceeded,
    Result,
    RetryableError,
    ScheduleConflict,
    Scheduled,
    Skip,
    Snooze,
    Status,
    Task,
    TaskCancelled,
    TaskHandler,
    TaskInfo,
    ToFunction,
    ToQueue,
    ToStream,
    ToWebhook,
    TypedHandler,
    UnrecoverableError,
    cancel,
    cancel_tasks,
    checked_instant,
    checked_name,
    checked_text,
    dead_keys,
    emit,
    emit_many,
    ensure,
    ensure_many,
    find,
    find_many,
    handler,
    history,
    move_tasks,
    register_link,
    reschedule,
    reschedule_many,
    retry_tasks,
    schedule,
    schedule_many,
    subscribe,
    subscriber,
    unsubscribe,
    what_delays,
    who_is_missing,
    write,
)
from django_punctual.calendars import (
    CalendarRequest,
    Imported,
    NotThere,
    create_calendar,
    delete_calendar,
    edit_calendar,
    import_calendar,
)
from django_punctual.campaigns import (
    BackfillRequest,
    Filter,
    NothingToDo,
    Pace,
    RetryLimited,
    Verb,
    Which,
    cancel_campaign,
    change_pace,
    find_campaign,
    foresee_backfill,
    pause_campaign,
    resume_campaign,
    start_backfill,
    start_campaign,
    undo_operation,
)
from django_punctual.compensation import (
    Compared,
    Difference,
    Finding,
    Found,
    Walked,
    compare_keys,
    differing,
    differing_rows,
    register_scan,
    waiting_keys,
)
from django_punctual.events import Kind, declare_kind
from django_punctual.jobs import (
    Declaration,
    Degraded,
    FiringClaimed,
    HasChildren,
    JobRequest,
    NameTaken,
    StaleRevision,
    UnknownJob,
    create_job,
    delete_job,
    edit_job,
    move_firing,
    pause_job,
    restore_firing,
    resume_job,
    skip_firing,
    trigger_job,
)
from django_punctual.rolling import (
    Outlook,
    Timer,
    change_interval,
    failing_keys,
    front_of_line,
    outlook,
    timer_from,
    timer_of,
)
from django_punctual.subscriptions import (
    Subscription,
    Target,
    add_secret,
    find_subscription,
    pause_subscription,
    replay_subscription,
    resume_subscription,
    withdraw_old_secrets,
)
from django_punctual.testing import (
    FrozenClock,
    assert_not_scheduled,
    assert_scheduled,
    call,
    fake_task,
    frozen_clock,
    run_due,
    scheduled,
)
from django_punctual.testing.plugin import Punctual
from django_punctual.together import Changed, RowChange, cursor_made, reschedule_with

TOMORROW = timedelta(days=1)


@dataclass
class Parcel:
    order_id: int
    weight: Decimal
    at: datetime | None = None


# Handlers in every shape.


@handler("EXAMPLE_SEND", timeout=10, backoff=Backoff(base=1), key="order_id")
def send(order_id: int, at_most: Decimal = Decimal(10)) -> str:
    if at_most < 0:
        raise UnrecoverableError("nothing costs less than nothing", code="NEGATIVE", tags=["pricing"])
    if order_id == 0:
        raise Skip("there is no such order")
    return f"sent {order_id}"


@handler("EXAMPLE_REMIND")
def remind(order_id: int) -> None: ...


@handler("EXAMPLE_SHIP", transactional=True, max_retry=3, lane="high")
def ship(task: Task, parcel: Parcel) -> None:
    if task.attempt > 2:
        raise RetryableError("the depot is closed", after=TOMORROW)
    write("UPDATE example_order SET shipped = true WHERE id = %s", [parcel.order_id])


@handler("EXAMPLE_EXPIRE", tenant=INTERNAL_TENANT, rate=10, burst=5)
def expire(task: Task) -> None:
    task.defer("EXPIRE_TELL", task.key, {"n": 1}, delay=5, for_=timedelta(days=2), lane="low")
    raise Snooze(task.execute_time + TOMORROW)


@handler("EXAMPLE_CONVERT")
def convert(task: Task, film: str) -> Away:
    where: Addresses = task.addresses
    if film == "":
        raise Away(timedelta(minutes=5))
    remind(len(where.complete))
    return task.away(lease=timedelta(hours=2))


@handler("EXAMPLE_INDEX", batch=True)
def index(tasks: list[Task]) -> dict[int, Exception | Result] | None:
    return {task.id: Result(len(task.key)) if task.payload else ValueError(task.key) for task in tasks}


@handler("EXAMPLE_FETCH", concurrency=4)
async def fetch(url: str, *, tries: int = 3) -> int:
    return tries


@handler("EXAMPLE_EXPORT", timeout=3600, logs=True)
def export(task: Task, pages: int) -> int:
    for page in range(pages):
        if task.cancelled:
            raise TaskCancelled("nobody waits for it")
        task.progress(page / pages, f"page {page}")
        task.log(f"page {page}", level="INFO")
        task.check_cancelled()
    task.progress(None)
    return pages


class Mail(BaseHandler):
    type = "EXAMPLE_MAIL"
    timeout = 5
    key_by = "to"

    def run(self, to: str, copies: int = 1) -> int:
        return copies + self.task.attempt

    def apply(self, answer: int) -> None: ...


# What handlers are used for.


def plan(at: datetime) -> list[Scheduled]:
    planned = [
        send.schedule(5),
        send.schedule(order_id=5, at_most=Decimal(1)),
        send.schedule(5, Decimal(1), at=at, lane="low", idem_key="once", tenant=None),
        send.options(delay=TOMORROW, key="mine").schedule(5),
        remind.schedule(5, at=at),
        remind.reschedule(5, delay=60, by="me"),
        remind.ensure(5, delay=60),
        send.options(at=at).ensure(5),
        ship.schedule(Parcel(5, Decimal(1)), repeat_after=TOMORROW),
        fetch.options(expires_after=60).schedule("https://example.com", tries=1),
        expire.schedule(5, at=at, payload={"x": 1}, max_retry=1),
        expire.reschedule(5, delay=1),
        expire.ensure(UUID(int=5), delay=1),
        index.schedule("a"),
        Mail.schedule("a@b"),
        Mail.schedule("a@b", 2, at=at),
        Mail.reschedule("a@b", 2, delay=1),
        Mail.ensure("a@b", 2, delay=1),
        Mail.options(lane="low").schedule(to="a@b"),
    ]
    arguments: list[Arguments[Any]] = [remind.args(1), remind.options(lane="low").args(2)]
    planned += remind.schedule_many([remind.args(1), remind.options(lane="low").args(2)], delay=60)
    planned += index.schedule_many([{"key": 1}], delay=60)
    planned += Mail.schedule_many([Mail.args("a@b", copies=2)], at=at)
    assert [one.key for one in arguments] == [remind.key(1), remind.key(2)]
    return planned


def direct() -> str:
    export(fake_task(cancelled=False), 3)
    expire(fake_task(payload={"order": 5}))
    index([fake_task(key=1), fake_task(key=UUID(int=2))])
    ship(fake_task(), Parcel(5, Decimal(1)))
    copies: int = Mail().run("a@b")
    return send(copies) + send(order_id=5)


def shapes() -> tuple[TypedHandler[..., ..., str], TaskHandler[None], BatchHandler[Any]]:
    return send, expire, index


def unplan() -> list[Cancelled]:
    return [
        remind.cancel(5, reason="paid", by="me"),
        send.options(tenant="acme").cancel(5),
        expire.cancel(5, reason="paid"),
        Mail.cancel("a@b"),
        cancel("EXAMPLE_SEND", 5, reason="paid", by="me"),
    ]


def look() -> list[TaskInfo | None]:
    found = [send.find(5), expire.find(5), Mail.find("a@b"), find("EXAMPLE_SEND", 5)]
    many: dict[tuple[str, str], TaskInfo] = find_many(["EXAMPLE_SEND"], [1, 2])
    return [*found, *many.values()]


# By name.


def by_name(at: datetime) -> list[Outcome]:
    try:
        planned = [
            schedule("EXAMPLE_EXPIRE", 5, at=checked_instant("at", at), payload={"a": [1]}, lane="low"),
            *schedule_many("EXAMPLE_EXPIRE", [{"key": 1}, {"key": 2, "delay": 5}], max_retry=1),
            reschedule("EXAMPLE_EXPIRE", 5, delay=TOMORROW, by="me"),
            *reschedule_many("EXAMPLE_EXPIRE", [{"key": 1, "delay": 5}], leave_running=True),
            ensure("EXAMPLE_EXPIRE", 5, delay=1),
            *ensure_many("EXAMPLE_EXPIRE", [{"key": 1}], delay=1),
        ]
    except QuotaExceeded as error:
        raise PunctualError(f"{error.quota}: {error.used} of {error.limit}") from error
    except (InvalidTask, ScheduleConflict) as error:
        raise PunctualError(checked_text("why", checked_name("error", str(error), 100), 100)) from error
    return [one.outcome for one in planned]


def events() -> int:
    kind: Kind = declare_kind("order.sent", "An order was sent.", {"type": "object"}, {"order": 5})
    emit(kind.name, {"order": 5}, task_type="EXAMPLE_SEND", key=5)
    return emit_many("order.sent", [{"order": 6}], tenant="acme", task_type="EXAMPLE_SEND", keys=[6])


def heard(event: Event) -> str:
    return f"{event.type} {event.id} {event.revision} {event.as_json()['unit']}"


def operate(ids: list[int], at: datetime) -> bool:
    operator = Operator("me", "the depot was closed")
    done: list[Operated] = [retry_tasks(ids, operator), cancel_tasks(ids, operator), move_tasks(ids, at, operator)]
    return all(answer is not Answer.FINISHED for one in done for answer in one.answers.values())


def past(key: str) -> tuple[list[str], list[str], bool]:
    tasks, attempts = history("EXAMPLE_SEND", key, limit=5)
    failed: list[AttemptInfo] = attempts
    return dead_keys(["EXAMPLE_SEND"]), [one.error_code for one in failed], tasks[0].status is Status.DEAD


def link(key: str) -> Link | None:
    return Link(f"/orders/{key}", f"order {key}") if key.isdecimal() else None


register_link("EXAMPLE_SEND", link)


def alive() -> str:
    return what_delays("default") or who_is_missing("default")


# Jobs, rolling tasks, compensation.


def jobs(until: datetime) -> int:
    operator = Operator("me", "a new rule")
    request = JobRequest(
        name="nightly", task_type=send.name, cron="0 2 * * *", payload=send.args(5).payload, overlap="skip"
    )
    try:
        job = create_job(request, operator)
        create_job(JobRequest(name="after it", task_type=send.name, parents=["nightly"], when="all_done"), operator)
        edit_job(job.id, {"cron": "0 3 * * *"}, operator, revision=1)
        pause_job(job.id, operator, until=until)
        resume_job(job.id, operator)
        triggered = trigger_job(job.id, "now", operator, payload={"order_id": 6}, overlap="queue_all")
        skipped = skip_firing(job.id, operator)
        moved: datetime | None = move_firing(job.id, until, operator, fire_time=skipped.fire_time).moved_to
        restore_firing(job.id, skipped.fire_time, operator)
        delete_job(job.id, operator)
    except (Degraded, FiringClaimed, HasChildren, NameTaken, StaleRevision, UnknownJob):
        return 0
    return triggered.task_id if moved else 0


def calendars(holidays: bytes) -> int:
    operator = Operator("me", "the holidays of next year")
    try:
        made = create_calendar(CalendarRequest("holidays", weekdays=["Sunday"], days_off=["2026-12-25"]), operator)
        edit_calendar(made.id, {"working_days": {"2026-12-27": "stock-taking"}}, operator, revision=1)
        read: Imported = import_calendar("holidays", holidays, operator, years=5)
        delete_calendar(made.id, operator)
    except NotThere:
        return 0
    return read.days


def many(job_id: int, since: datetime) -> int:
    operator, pace = Operator("olga", "the source was down"), Pace(cap=500, rate=5.0, most_running=4)
    request = BackfillRequest([job_id], since, which=Which.FAILED, newest_first=True)
    foreseen = foresee_backfill(request, pace)
    first = [slot.at for slot in foreseen.first]
    try:
        campaign = start_backfill(request, operator, pace)
        start_campaign(Verb.REPLAY, Filter(state="DEAD"), operator, pace)
    except (NothingToDo, RetryLimited):
        return len(first)
    changed: bool = change_pace(campaign.id, {"rate": None}, operator).changed
    pause_campaign(campaign.id, operator)
    resume_campaign(campaign.id, operator)
    cancel_campaign(campaign.id, operator)
    undo_operation(campaign.operation, operator)
    return foreseen.instances if changed and find_campaign(campaign.id) is not None else 0


def declared() -> Iterator[JobRequest | Declaration]:
    """As the `jobs()` of a file of jobs."""
    yield JobRequest(name="nightly", task_type=send.name, cron="0 2 * * *", timeout=90, backoff=[1, 5.5])
    yield Declaration(JobRequest(name="hourly", task_type=send.name, every=3600), tenant="acme", renamed_from="often")


def rolling() -> tuple[datetime, int, Timer | None]:
    timer: Timer | None = timer_from("0 2 * * MON Europe/Berlin") or timer_of("EXAMPLE_EXPIRE")
    ahead: Outlook = outlook("EXAMPLE_EXPIRE", timedelta(hours=1), 24)
    keys = failing_keys("EXAMPLE_EXPIRE", most=10)
    return front_of_line("EXAMPLE_EXPIRE"), change_interval("EXAMPLE_EXPIRE", keys, TOMORROW) + ahead.due, timer


def scan(dry_run: bool) -> Iterator[Found | Walked]:
    orders: Any = None
    wrong: dict[str, Difference] = differing("EXAMPLE_SEND", {"5": None}) | differing_rows("EXAMPLE_SEND", orders)
    for key in wrong:
        yield Found("it is not planned", key, Finding.REPAIRABLE if dry_run else Finding.REPAIRED)
    compared: Compared = compare_keys("EXAMPLE_SEND", orders)
    yield Walked(compared.wanted + waiting_keys("EXAMPLE_SEND", orders)[0])


register_scan("example", scan)


# Subscriptions.


@subscriber("example")
def hear(events: Sequence[Event]) -> None:
    for event in events:
        if event.unit is not None and event.data:
            assert event.revision and event.as_json()["id"] == event.id


def listen(operator: Operator) -> list[Subscription]:
    targets: list[Target] = [ToFunction("example"), ToStream("s", maxlen=5), ToQueue("b", "q"), ToWebhook("https://a")]
    made = [subscribe(f"to {one.sink}", events=["task.*"], to=one, tenant="shop") for one in targets]
    pause_subscription("to python", operator, tenant="shop")
    resume_subscription("to python", operator, tenant="shop", since=datetime.now(UTC))
    replay_subscription("to python", datetime.now(UTC), operator, tenant="shop")
    unsubscribe("to stream", tenant="shop")
    secrets: list[str | None] = [made[-1].new_secret, add_secret("to webhook", operator, tenant="shop")]
    assert len(secrets) > withdraw_old_secrets("to webhook", operator, tenant="shop")
    return [*made, find_subscription("to queue", tenant="shop")]


# Tests.


def kit(at: datetime, punctual: Punctual) -> int:
    with frozen_clock(at) as clock:
        frozen: FrozenClock = clock
        frozen.advance(TOMORROW)
        frozen.move_to(at)
        settled = frozen.run_for(60) + frozen.run_until(at) + run_due(retries=True, rounds=5)
    call(send, 5)
    call(Mail, to="a@b")
    found: TaskInfo = assert_scheduled(send, order_id=5, at=at, within=TOMORROW)
    assert_scheduled("EXAMPLE_SEND", found.key)
    assert_scheduled(Mail, to="a@b")
    assert_not_scheduled(expire, 5)
    punctual.freeze(at).advance(60)
    punctual.clock.run_for(TOMORROW)
    punctual.assert_scheduled(index, "a", payload={})
    return settled + punctual.run_due() + len(scheduled(send))


MOVE_EXPIRY = RowChange(
    lock="SELECT id, expires_at, TRUE AS allowed FROM example_order WHERE id = %(id)s FOR NO KEY UPDATE",
    write="written AS (UPDATE example_order o SET expires_at = %(at)s FROM own, moved WHERE o.id = own.id RETURNING 1)",
    answer="own.expires_at",
    event="order.expiry_moved",
    data="jsonb_build_object('order', own.id)",
)


def move_expiry(order_id: int, at: datetime) -> datetime | None:
    changed: Changed | None = reschedule_with(
        MOVE_EXPIRY, "EXAMPLE_EXPIRE", order_id, at=at, params={"id": order_id}, tenant=INTERNAL_TENANT, by="tess"
    )
    if changed is None or changed.task is None:
        return None
    task: Scheduled = changed.task
    assert task.outcome in (Outcome.UPDATED, Outcome.REPLACED)
    before: datetime = changed.row[0]
    return before


def expiries() -> int:
    with cursor_made(connection, psycopg.Cursor) as cursor:
        cursor.execute("SELECT count(*) FROM example_order")
        (count,) = cursor.fetchone()
        return int(count)
