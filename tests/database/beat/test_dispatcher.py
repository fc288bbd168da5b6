"""The dispatcher: claims due tasks, no more than workers will start, and waits no longer than allowed."""

from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError, connection
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from django_punctual import schedule, schedule_many
from tasks_app.conf import conf
from tasks_app.engine import nodes
from tasks_app.engine.beat import claim_ahead as claim_ahead_module
from tasks_app.engine.beat.batch_size import BatchSizes, size_for
from tasks_app.engine.beat.claim_ahead import MOST_SECONDS, MOST_WAY_SECONDS, ClaimAhead
from tasks_app.engine.beat.dispatcher import Dispatcher
from tasks_app.engine.beat.limits import Limits
from tasks_app.engine.beat.listener import Listener, Woken
from tasks_app.engine.beat.publisher import PublishFailed
from tasks_app.engine.beat.rows_asked import MIXED, RowsAsked
from tasks_app.lifecycle.claim import ClaimedBatch, return_unstarted
from tasks_app.models import MinuteFigures, Node, ScheduleTask, TaskBatch
from tests.support.engine import anybodys, batch_row, make_due, row, run_due
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


class Broker:
    """Where batches go; can refuse them."""

    def __init__(self) -> None:
        self.batches: list[ClaimedBatch] = []
        self.calls: list[set[str]] = []  # the lanes of each
        self.down = False

    def publish(self, batches) -> None:
        if self.down:
            raise ConnectionError("the broker is down")
        self.batches += batches
        self.calls.append({batch.lane for batch in batches})


class Dispatching:
    """A dispatcher that holds all shards."""

    def __init__(self, dispatcher: Dispatcher, listener: Listener) -> None:
        self._dispatcher = dispatcher
        self._listener = listener

    def run_once(self):
        """As the beat does: read a signal, then poll."""
        if self._listener.wait(0) is Woken.TASKS:
            self._dispatcher.wake()
        return self._dispatcher.run_once(anybodys(), conf().SHARDS)

    def wait(self, seconds: float) -> bool:
        return self._listener.wait(seconds) is Woken.TASKS


@pytest.fixture
def broker():
    return Broker()


@pytest.fixture
def dispatcher(broker):
    listener = Listener(nodes.new_node_id())
    yield Dispatching(Dispatcher("test", broker.publish, listener), listener)
    listener.close()


@pytest.fixture
def worker(settings):
    """A live worker with two slots in every lane, alive for the whole test on a slow machine."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_TTL_SECONDS": 3600.0}
    nodes.report_worker(nodes.new_node_id(), "w1", 2, ["critical", "high", "default", "low", "deferred", "backfill"])


@pytest.fixture
def one_full_scan(settings, worker):
    """The next one, which reads more, comes after the test, however slow the machine is."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 3600.0}


def times_out(limits: Limits, batches: list[ClaimedBatch]) -> list[ClaimedBatch]:
    """The statement after a claim: another transaction has locked a row for too long."""
    if batches:
        raise OperationalError("canceling statement due to lock timeout")
    return batches


def test_an_error_between_claim_and_publish_leaves_the_dispatcher_in_doubt(broker, worker, monkeypatch):
    monkeypatch.setattr(Limits, "_without_slowed_retries", times_out)
    listener = Listener(nodes.new_node_id())
    dispatcher = Dispatcher("test", broker.publish, listener)
    dispatcher.run_once(anybodys(), conf().SHARDS)
    schedule("T_QUIET", "a")
    dispatcher.wake()

    with pytest.raises(OperationalError):
        for _ in range(3):
            dispatcher.run_once(anybodys(), conf().SHARDS)

    assert dispatcher.in_doubt and TaskBatch.objects.filter(started_at=None, finished_at=None).count() == 1
    listener.close()


def read_of(*indexes: str) -> int:
    """Entries, so far."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(
            "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE indexrelname = ANY (%s)", [list(indexes)]
        )
        return cursor.fetchone()[0]


def poll_until_idle(dispatcher, most: int = 50):
    """Poll as the beat does, without its waits, until there is nothing to do at once."""
    for _ in range(most):
        poll = dispatcher.run_once()
        if poll.wait_seconds > 0:
            return poll
    raise AssertionError(f"still busy after {most} polls")


def test_due_tasks_are_claimed_and_published(dispatcher, broker, worker):
    tasks = [schedule("T_QUIET", "a"), schedule("T_PLAIN", "b", lane="critical")]

    poll_until_idle(dispatcher)

    assert {row(t.task_id).status for t in tasks} == {"RUNNING"}
    assert {(b.lane, b.task_type, b.size) for b in broker.batches} == {
        ("default", "T_QUIET", 1),
        ("critical", "T_PLAIN", 1),
    }


def test_a_batch_holds_one_lane_and_one_type(dispatcher, broker, worker):
    for n in range(4):
        schedule("T_QUIET", n)
        schedule("T_PLAIN", n)
        schedule("T_QUIET", f"low{n}", lane="low")

    poll_until_idle(dispatcher)

    assert sorted((b.lane, b.task_type, b.size) for b in broker.batches) == [
        ("default", "T_PLAIN", 4),
        ("default", "T_QUIET", 4),
        ("low", "T_QUIET", 4),
    ]


def test_a_scan_does_not_step_over_rows_that_earlier_polls_claimed(dispatcher, worker, one_full_scan):
    """As long as an older snapshot may need the claimed rows, their entries stay at the front of the index."""
    schedule_many("T_QUIET", [{"key": n} for n in range(400)])
    with psycopg.connect(connection.connection.info.dsn) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM punctual_task")
        while ScheduleTask.objects.filter(status="INIT").exists():
            poll_until_idle(dispatcher)
            TaskBatch.objects.update(started_at=Now())  # there is room again
        poll_until_idle(dispatcher)
        before = read_of("punctual_task_entry", "punctual_task_wait")

        poll_until_idle(dispatcher)

        assert read_of("punctual_task_entry", "punctual_task_wait") - before < 100


def test_a_scan_does_not_step_over_the_batches_of_a_minute_ago(dispatcher, worker, one_full_scan):
    """Every start and every heartbeat leaves an entry of its batch behind."""
    schedule_many("T_QUIET", [{"key": n} for n in range(400)])
    with psycopg.connect(connection.connection.info.dsn) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM punctual_task")
        while ScheduleTask.objects.filter(status="INIT").exists():
            poll_until_idle(dispatcher)
            TaskBatch.objects.update(started_at=Now())
            for seconds in range(20):
                TaskBatch.objects.update(lease_until=F("lease_until") + timedelta(seconds=seconds))
        poll_until_idle(dispatcher)
        before = read_of("punctual_batch_open", "punctual_batch_waiting")

        poll_until_idle(dispatcher)

        assert read_of("punctual_batch_open", "punctual_batch_waiting") - before < 20


def test_a_task_due_before_the_last_scan_is_found_without_a_signal(dispatcher, worker):
    task = schedule("T_QUIET", "a", delay=3600)
    poll_until_idle(dispatcher)
    while dispatcher.wait(0.1):  # signals of before
        poll_until_idle(dispatcher)
    make_due(task.task_id)

    wait_until(lambda: dispatcher.run_once() and row(task.task_id).status == "RUNNING")


def test_without_a_live_worker_nothing_is_claimed(dispatcher, broker):
    task = schedule("T_QUIET", "a")

    poll_until_idle(dispatcher)

    assert row(task.task_id).status == "INIT"
    assert broker.batches == []


def test_a_worker_that_has_been_silent_for_too_long_counts_as_none(dispatcher, broker, worker):
    Node.objects.update(seen_at=Now() - timedelta(seconds=conf().NODE_TTL_SECONDS + 1))
    schedule("T_QUIET", "a")

    poll_until_idle(dispatcher)

    assert broker.batches == []


def test_batches_of_another_beat_take_no_room_from_this_one(dispatcher, broker, worker):
    schedule_many("T_QUIET", [{"key": n} for n in range(2000)])
    poll_until_idle(dispatcher)
    before = len(broker.batches)
    TaskBatch.objects.update(dispatcher="another beat")

    poll_until_idle(dispatcher)

    assert len(broker.batches) == 2 * before > 0


def test_few_batches_wait_for_a_start_and_the_other_tasks_can_still_be_rescheduled(dispatcher, broker, worker):
    schedule_many("T_QUIET", [{"key": n} for n in range(2000)])

    poll_until_idle(dispatcher)

    bound = 2 * conf().BATCHES_AHEAD
    assert TaskBatch.objects.filter(started_at__isnull=True).count() == bound
    assert ScheduleTask.objects.filter(status="RUNNING").count() <= bound * conf().BATCH_UNSEEN
    assert ScheduleTask.objects.filter(status="INIT").count() >= 1900


def test_a_batch_that_never_starts_is_counted_after_many_later_ones(dispatcher, broker, worker):
    schedule_many("T_QUIET", [{"key": n} for n in range(2000)])
    poll_until_idle(dispatcher)
    first = broker.batches[0].batch_no
    for _ in range(5):
        TaskBatch.objects.exclude(batch_no=first).update(started_at=Now())
        poll_until_idle(dispatcher)

    assert TaskBatch.objects.filter(started_at__isnull=True).count() == 2 * conf().BATCHES_AHEAD
    assert batch_row(first).started_at is None


def test_a_lane_without_room_does_not_delay_another(dispatcher, broker, worker):
    schedule_many("T_QUIET", [{"key": n} for n in range(2000)], lane="low")
    poll_until_idle(dispatcher)

    urgent = schedule("T_QUIET", "urgent", lane="critical")
    poll_until_idle(dispatcher)

    assert row(urgent.task_id).status == "RUNNING"


def test_an_urgent_task_is_published_before_a_backlog_is_claimed(dispatcher, broker, worker):
    schedule_many("T_QUIET", [{"key": n} for n in range(200)], lane="low")
    poll_until_idle(dispatcher)
    TaskBatch.objects.update(started_at=Now())  # so that there is room again
    schedule("T_QUIET", "urgent", lane="critical")
    dispatcher.run_once()  # sees both
    broker.calls.clear()

    dispatcher.run_once()

    assert broker.calls == [{"critical"}, {"low"}]


def test_one_claim_of_a_backlog_takes_no_more_than_a_large_batch(dispatcher, broker, worker, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BATCH_MAX": conf().SHARDS}
    schedule_many("T_QUIET", [{"key": n} for n in range(200)])

    polls = [dispatcher.run_once() for _ in range(6)]

    assert max(poll.tasks for poll in polls) == conf().SHARDS
    assert sum(poll.tasks for poll in polls) > conf().SHARDS  # the rest is claimed at once
    assert all(poll.wait_seconds == 0 for poll in polls[1:4])


def test_a_backlog_of_tasks_due_at_a_whole_second_is_drained(dispatcher, broker, worker, settings):
    """As at midnight: the position at which a claim stopped is a round number."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"BATCH_MAX": conf().SHARDS}
    at = timezone.now().replace(microsecond=0) - timedelta(seconds=1)
    schedule_many("T_QUIET", [{"key": n} for n in range(200)], at=at)
    while ScheduleTask.objects.filter(status="INIT").exists():
        poll_until_idle(dispatcher)
        TaskBatch.objects.update(started_at=Now())  # there is room again

    assert sum(batch.size for batch in broker.batches) == 200


MIX = ("T_QUIET", "T_PLAIN", "T_BATCH", "T_ASYNC_BATCH", "T_EFFECT", "T_EFFECT_BATCH", "T_LOGS")


def test_a_backlog_of_many_types_is_claimed_in_full_batches_with_room_for_few(dispatcher, broker, worker, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BATCHES_AHEAD": 1}
    for one in MIX:
        schedule_many(one, [{"key": n} for n in range(60)])
    shuffled = "UPDATE punctual_task SET due_at = now() - interval '1 ms' * (hashtext(task_type || biz_key) & 1023)"
    with connection.cursor() as cursor:
        cursor.execute(shuffled)

    for _ in range(12):
        dispatcher.run_once()
        TaskBatch.objects.update(started_at=Now())

    assert len(broker.batches) == 12
    assert sum(batch.size for batch in broker.batches[3:]) > 8 * conf().BATCH_UNSEEN  # of 9


@pytest.mark.parametrize("sizes", [[1, 1], [1, 200], [1, 1, 200]], ids=str)
def test_tasks_that_must_be_alone_are_not_asked_for_by_the_thousand(sizes):
    batches = [ClaimedBatch("", "default", "T_QUIET", size) for size in sizes]
    rows = RowsAsked()

    for _ in range(12):
        asked = rows.of("default", len(sizes))
        rows.learn("default", batches)
        rows.learn_mix("default", asked, len(sizes), batches, {"T_QUIET": 200})

    assert rows.of("default", len(sizes)) <= max(MIXED, 2 * sum(sizes) + len(sizes))


def test_a_lane_without_a_backlog_asks_for_no_more_than_it_has_room_for():
    rows = RowsAsked()
    small = [ClaimedBatch("", "default", "T_QUIET", 1)]
    rows.learn_mix("default", 64, 1, small, {})
    assert rows.of("default", 1) == MIXED

    rows.learn_mix("default", 64, 2, small, {})

    assert rows.of("default", 1) == conf().BATCH_UNSEEN


def test_batches_the_broker_refused_are_due_again_and_use_no_retry(dispatcher, broker, worker):
    task = schedule("T_QUIET", "a")
    broker.down = True
    dispatcher.run_once()
    with pytest.raises(PublishFailed):
        dispatcher.run_once()

    returned = row(task.task_id)
    assert (returned.status, returned.due_at, returned.retry_count) == ("INIT", returned.execute_time, 0)
    assert not TaskBatch.objects.filter(finished_at__isnull=True).exists()

    broker.down = False
    poll_until_idle(dispatcher)
    assert row(task.task_id).status == "RUNNING"


def test_a_failed_publish_is_reported_as_such_if_its_batches_can_not_be_returned(dispatcher, broker, worker):
    """Else the beat would take it for a fault of the database, and continue to claim for a broker that is away."""
    schedule("T_QUIET", "a")
    broker.down = True
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE punctual_batch ADD CONSTRAINT stuck CHECK (finished_at IS NULL)")
        try:
            with pytest.raises(PublishFailed, match="the broker is down"):
                poll_until_idle(dispatcher)
        finally:
            cursor.execute("ALTER TABLE punctual_batch DROP CONSTRAINT stuck")

    assert return_unstarted(["test"]) == 1


def test_it_waits_until_the_next_due_time_and_at_most_look_seconds(dispatcher, worker, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 60.0}
    assert poll_until_idle(dispatcher).wait_seconds == conf().LOOK_SECONDS

    schedule("T_QUIET", "later", delay=3600)
    assert poll_until_idle(dispatcher).wait_seconds == conf().LOOK_SECONDS

    schedule("T_QUIET", "soon", delay=30)
    assert 0 < poll_until_idle(dispatcher).wait_seconds <= 30


def test_only_a_task_that_is_due_before_the_next_poll_sends_a_signal(dispatcher, worker, redis, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 3600.0}
    schedule("T_QUIET", "a", delay=600)
    poll_until_idle(dispatcher)
    redis.delete(*(redis.keys("punctual:signal:*") or ["none"]))

    schedule("T_QUIET", "b", delay=1200)
    assert not redis.keys("punctual:signal:*")
    schedule("T_QUIET", "c", delay=300)
    assert redis.keys("punctual:signal:*")


def test_twenty_future_tasks_with_their_wake_ups_cost_two_statements(dispatcher, worker, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 60.0}
    poll_until_idle(dispatcher)
    for n in range(20):
        schedule("T_QUIET", n, delay=50 + n / 1000)

    woken = 0
    with CaptureQueriesContext(connection) as counted:
        while dispatcher.wait(0.2):
            woken += 1
            poll_until_idle(dispatcher)

    assert woken >= 1
    assert len(counted) <= 2


def test_after_a_full_claim_it_polls_again_at_once(dispatcher, broker, worker):
    schedule_many("T_QUIET", [{"key": n} for n in range(100)])
    dispatcher.run_once()

    assert dispatcher.run_once().wait_seconds in (0, 0.02)  # more is due: at once, or as soon as there is room
    assert broker.batches


def test_rows_that_another_transaction_has_locked_are_polled_again_soon(dispatcher, worker):
    from tests.support.overlap import overlap

    task = schedule("T_QUIET", "a")
    dispatcher.run_once()

    def lock():
        ScheduleTask.objects.select_for_update().get(id=task.task_id)

    _, poll = overlap(lock, dispatcher.run_once)

    assert 0 < poll.wait_seconds < 0.1


def test_a_task_marked_solo_gets_a_batch_of_its_own(dispatcher, broker, worker):
    ids = [schedule("T_QUIET", n).task_id for n in range(3)]
    ScheduleTask.objects.filter(id=ids[0]).update(solo=True)

    poll_until_idle(dispatcher)

    assert sorted(b.size for b in broker.batches) == [1, 2]
    assert sorted(len(batch_row(b).ids) for b in broker.batches) == [1, 2]


def test_the_size_of_a_batch_follows_the_pace_of_its_type():
    assert size_for(1_000_000) == 1  # a second each
    assert size_for(10_000) == 20  # 200 ms of work
    assert size_for(1) == conf().BATCH_MAX
    assert size_for(10_000, threaded=True) == 50  # longer, since its threads wait for each other at the end


def test_a_type_is_measured_by_its_finished_batches():
    schedule_many("T_QUIET", [{"key": n} for n in range(10)])
    run_due()
    TaskBatch.objects.update(run_us=10 * 50_000)
    pace = BatchSizes()

    pace.note({"T_QUIET"})

    assert pace.sizes["T_QUIET"] == 4


def in_minute(task_type: str, ago: timedelta, us_per_task: int) -> None:
    """The figures of ten tasks that ran then; their batches are in the past by now."""
    minute = timezone.now().replace(second=0, microsecond=0) - ago
    MinuteFigures.objects.create(
        minute=minute, task_type=task_type, batches=1, ok=9, failed=1, run_us=10 * us_per_task, lateness=[]
    )


def sizes_at_first() -> dict[str, int]:
    """As a beat has them that has just started."""
    pace = BatchSizes()
    pace.begin()
    return pace.sizes


def test_a_beat_that_starts_after_a_quiet_time_uses_the_figures_of_the_last_day(dispatcher, broker, worker):
    in_minute("T_QUIET", timedelta(hours=20), 10_000)
    in_minute("T_QUIET", timedelta(hours=3), 30_000)
    in_minute("T_PLAIN", timedelta(hours=30), 50_000)  # too long ago

    sizes = sizes_at_first()
    assert sizes["T_QUIET"] == 10  # 200 ms of work, at 20 ms each
    assert "T_PLAIN" not in sizes
    schedule_many("T_QUIET", [{"key": n} for n in range(20)])
    dispatcher.run_once()
    dispatcher.run_once()
    assert {batch.size for batch in broker.batches} == {10}


def test_figures_of_a_recent_batch_replace_those_of_the_last_day():
    in_minute("T_QUIET", timedelta(hours=3), 10_000)
    schedule_many("T_QUIET", [{"key": n} for n in range(10)])
    run_due()
    TaskBatch.objects.update(run_us=10 * 50_000)

    assert sizes_at_first()["T_QUIET"] == 4


def test_claim_ahead_follows_the_measured_time_to_a_start_and_is_bounded():
    for task_type, times in (("T_QUIET", range(11)), ("T_PLAIN", [1])):  # the second is quick, but seen once
        for milliseconds in times:
            schedule(task_type, milliseconds)
            run_due()
            last = TaskBatch.objects.order_by("-finished_at")[:1]
            way = timedelta(milliseconds=milliseconds)
            TaskBatch.objects.filter(batch_no__in=list(last.values_list("batch_no", flat=True))).update(
                claimed_at=F("started_at") - way
            )
    sizes, ahead = BatchSizes(), ClaimAhead()
    sizes.refresh()

    ahead.note_way(sizes.way)
    measured = ahead.seconds
    ahead.note_round(0.004)
    included = ahead.included
    ahead.note_claim(3600.0)
    ahead.note_round(3600.0)

    assert measured == pytest.approx(0.009 + 2 * 0.001)
    assert included == pytest.approx(2 * 0.0024)
    assert (ahead.seconds, ahead.seconds + ahead.included) == (MOST_WAY_SECONDS, MOST_SECONDS)


@pytest.mark.parametrize("backlog", [set(), {"low"}], ids=["free slots", "a backlog"])
def test_a_task_is_claimed_ahead_unless_a_backlog_needs_the_slots(dispatcher, worker, monkeypatch, backlog):
    claims_far_ahead(dispatcher, monkeypatch)
    soon, later = (schedule("T_QUIET", delay, delay=delay).task_id for delay in (900, 7200))
    dispatcher.run_once()
    for lane in backlog:
        dispatcher._dispatcher._claims._backlog.note_full_claim(lane)

    dispatcher.run_once()

    assert (row(soon).status, row(later).status) == ("INIT" if backlog else "RUNNING", "INIT")


def test_a_claim_of_an_overdue_task_includes_none_that_a_slot_would_wait_for(dispatcher, worker, monkeypatch):
    claims_far_ahead(dispatcher, monkeypatch)
    dispatcher._dispatcher._claims._estimates.claim_ahead.note_round(3000.0)
    overdue, later = (schedule("T_QUIET", delay, delay=delay).task_id for delay in (0, 2700))
    ScheduleTask.objects.filter(id=overdue).update(due_at=timezone.now() - timedelta(hours=1))
    dispatcher.run_once()

    dispatcher.run_once()

    assert (row(overdue).status, row(later).status) == ("RUNNING", "INIT")


@pytest.mark.parametrize("first", [900, None], ids=["with another", "by itself"])
def test_a_claim_includes_tasks_that_are_due_before_the_next_claim_ends(dispatcher, worker, broker, monkeypatch, first):
    claims_far_ahead(dispatcher, monkeypatch)
    dispatcher._dispatcher._claims._estimates.claim_ahead.note_round(3000.0)
    ids = [schedule("T_QUIET", delay, delay=delay).task_id for delay in (first, 2700, 7200) if delay]
    dispatcher.run_once()

    dispatcher.run_once()

    assert [row(id_).status for id_ in ids] == (["RUNNING", "RUNNING", "INIT"] if first else ["INIT", "INIT"])
    assert [batch.size for batch in broker.batches] == ([2] if first else [])


@pytest.mark.parametrize("overdue", [False, True])
def test_slow_tasks_are_claimed_ahead_one_by_one_so_that_none_is_late(dispatcher, worker, broker, monkeypatch, overdue):
    claims_far_ahead(dispatcher, monkeypatch)
    in_minute("T_QUIET", timedelta(hours=3), 20_000)  # ten of them are a batch
    schedule_many("T_QUIET", [{"key": n, "delay": 0 if overdue else 900} for n in range(3)])
    dispatcher.run_once()

    dispatcher.run_once()

    assert [batch.size for batch in broker.batches] == ([3] if overdue else [1, 1, 1])


def claims_far_ahead(dispatcher: Dispatching, monkeypatch) -> None:
    """Half an hour, by what the way to a worker takes; never more than an hour."""
    monkeypatch.setattr(claim_ahead_module, "MOST_WAY_SECONDS", 3600.0)
    monkeypatch.setattr(claim_ahead_module, "MOST_SECONDS", 3600.0)
    dispatcher._dispatcher._claims._estimates.claim_ahead.note_way(1800.0)


def test_types_with_a_limit_are_not_claimed_ahead(dispatcher, worker, monkeypatch):
    claims_far_ahead(dispatcher, monkeypatch)
    task = schedule("T_RATED", "a", delay=900).task_id

    poll_until_idle(dispatcher)

    assert row(task).status == "INIT"


def test_the_first_batch_of_an_unseen_type_is_small(dispatcher, broker, worker):
    schedule_many("T_QUIET", [{"key": n} for n in range(500)])

    poll_until_idle(dispatcher)

    assert max(b.size for b in broker.batches) <= conf().BATCH_UNSEEN


def test_the_earliest_due_is_claimed_first(dispatcher, broker, worker):
    late = [schedule("T_QUIET", n, delay=0).task_id for n in range(200)]
    early = schedule("T_QUIET", "early")
    ScheduleTask.objects.filter(id=early.task_id).update(due_at="2020-01-01T00:00:00Z")

    dispatcher.run_once()
    dispatcher.run_once()

    assert row(early.task_id).status == "RUNNING"
    assert ScheduleTask.objects.filter(id__in=late, status="INIT").exists()
