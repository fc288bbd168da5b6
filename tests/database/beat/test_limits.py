"""Limits of a type: a rate with a burst and a number running at once, over all beats, enforced at claim."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from math import inf

import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.utils import timezone

from django_punctual import handler, reschedule, schedule, schedule_many
from django_punctual.compensation import waiting_keys
from tasks_app.conf import conf
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.limit import Limit
from tasks_app.core.sharding import home_of
from tasks_app.engine import nodes
from tasks_app.engine.beat.dispatcher import Dispatcher
from tasks_app.engine.beat.listener import Listener
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.claim import peek
from tasks_app.lifecycle.limited import Wanted, claim_limited, declare_limits, limits
from tasks_app.lifecycle.start import start
from tasks_app.models import Node, ScheduleTask, TaskBatch, TypeLimit
from tests.support.engine import anybodys, row
from tests.support.marks import commits
from tests.support.moves import settled
from tests.support.overlap import overlap, overlap_results
from tests.support.wait import wait_until

pytestmark = commits

BURST = 48  # of T_RATED: 50, less what flows in between two looks at its bucket


@pytest.fixture(autouse=True)
def _declared(settings):
    # Whoever counts may take long here, since tests hold it up on purpose.
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHARD_LEASE_SECONDS": 60.0}
    declare_limits(REGISTRY)
    nodes.report_worker(nodes.new_node_id(), "w1", 4, ["critical", "high", "default", "low", "deferred", "backfill"])


def take(task_type: str, dispatcher: str = "test", lane: str = "default", batches: int = 100):
    """One claim of a limited type; its Granted."""
    wanted = [Wanted(task_type, lane, batches)]
    return claim_limited(wanted, {task_type: 1}, dispatcher)[task_type]


def many(task_type: str, number: int, **options) -> None:
    schedule_many(task_type, [{"key": n} for n in range(number)], **options)


def age_bucket(task_type: str, seconds: float) -> None:
    """Time is moved by writing it: the bucket was last filled so long ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE punctual_type_limit SET filled_at = clock_timestamp() - make_interval(secs => %s)"
            " WHERE task_type = %s",
            [seconds, task_type],
        )


def start_all() -> None:
    TaskBatch.objects.filter(started_at__isnull=True).update(started_at="2026-01-01T00:00:00Z")


def test_a_full_bucket_gives_its_burst_and_then_what_flows_in():
    many("T_RATED", 500)

    assert take("T_RATED").tasks == BURST
    start_all()
    TypeLimit.objects.update(permits=0, rate=0.01)  # so slow that nothing comes while the test runs
    age_bucket("T_RATED", 2_000)
    assert take("T_RATED").tasks == 20


def test_a_bucket_never_holds_more_than_its_burst():
    many("T_RATED", 500)
    age_bucket("T_RATED", 3600)

    assert take("T_RATED").tasks == BURST


def test_a_clock_that_was_set_back_takes_nothing_out_of_a_bucket():
    many("T_RATED", 500)
    age_bucket("T_RATED", -3600)

    assert take("T_RATED").tasks == BURST
    assert TypeLimit.objects.get(task_type="T_RATED").permits >= 0


def test_what_is_claimed_and_not_started_uses_up_the_burst_for_good():
    """Else a queue full of it would start together with a full bucket."""
    many("T_RATED", 500)
    take("T_RATED")
    age_bucket("T_RATED", 3600)

    assert take("T_RATED").tasks == 0
    start_all()
    assert take("T_RATED").tasks < BURST  # what flowed in since it was last looked at
    age_bucket("T_RATED", 3600)
    start_all()
    assert take("T_RATED").tasks == BURST


@pytest.mark.parametrize(("begun", "waiting"), [(False, 10), (True, 9)])
def test_tasks_of_a_batch_whose_handlers_were_not_called_yet_count_as_waiting(begun, waiting):
    many("T_RATED", 10)
    wanted = [Wanted("T_RATED", "default", 100)]
    claim_limited(wanted, {"T_RATED": 10}, "test")
    [batch] = TaskBatch.objects.all()
    batch.started_at = timezone.now() + timedelta(minutes=-1 if begun else 1)
    batch.save()
    schedule_many("T_RATED", [{"key": f"more {n}"} for n in range(500)])
    age_bucket("T_RATED", 3600)

    assert take("T_RATED").tasks == BURST - waiting


def test_tasks_of_a_batch_that_is_one_call_have_all_been_called():
    """Else a long call would keep its bucket from filling up."""

    @handler("T_ONE_CALL", rate=100, burst=50, batch=True)
    def one_call(tasks):
        pass

    try:
        declare_limits(REGISTRY)
        many("T_ONE_CALL", 10)
        claim_limited([Wanted("T_ONE_CALL", "default", 100)], {"T_ONE_CALL": 10}, "test")
        start_all()
        schedule_many("T_ONE_CALL", [{"key": f"more {n}"} for n in range(500)])
        age_bucket("T_ONE_CALL", 3600)

        assert take("T_ONE_CALL").tasks == BURST
    finally:
        REGISTRY.discard("T_ONE_CALL")


def test_no_more_run_at_once_than_max_running():
    many("T_THREE", 10)

    assert take("T_THREE").tasks == 3
    assert take("T_THREE").tasks == 0
    assert ScheduleTask.objects.filter(status="RUNNING").count() == 3


def test_a_task_that_has_ended_makes_room_for_one():
    many("T_THREE", 10)
    first, *_ = take("T_THREE").batches

    run_batch(first.batch_no, guarded=False)

    assert take("T_THREE").tasks == 1


def test_tasks_of_a_batch_that_have_ended_make_room_before_their_batch_does():
    many("T_THREE", 10)
    [batch] = claim_limited([Wanted("T_THREE", "default", 100)], {"T_THREE": 3}, "test")["T_THREE"].batches
    running = start(batch.batch_no, "worker")

    settled(running, only=[running.tasks[0].key, running.tasks[1].key], finish=False)

    assert take("T_THREE").tasks == 2


def test_a_type_that_has_lost_its_limit_is_not_held_to_it_any_more():
    TypeLimit.objects.create(task_type="T_QUIET", rate=1, burst=1, max_running=1)

    declare_limits(REGISTRY)

    assert limits()["T_QUIET"] == Limit(None, None, None)


def test_two_beats_count_one_after_the_other_and_neither_waits():
    many("T_SERIAL", 10)

    first, second = overlap_results(lambda: take("T_SERIAL", "one"), lambda: take("T_SERIAL", "two"))

    assert (first.value.tasks, second.value.tasks, second.value.allowed) == (1, 0, None)
    assert second.waited is False
    assert take("T_SERIAL", "two").tasks == 0


def test_a_beat_that_is_frozen_while_it_counts_holds_the_others_up_no_longer_than_its_lease(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHARD_LEASE_SECONDS": 2.0}
    many("T_SERIAL", 10)

    def freeze() -> None:
        assert take("T_SERIAL", "frozen").tasks == 1
        wait_until(lambda: take_beside("T_SERIAL", "other").tasks == 1, describe="a claim of another beat")
        with pytest.raises(DatabaseError):
            TypeLimit.objects.exists()  # its session was ended
        raise Frozen

    with pytest.raises(Frozen), transaction.atomic():
        freeze()

    assert ScheduleTask.objects.filter(status="RUNNING").count() == 1


class Frozen(Exception):
    pass


def take_beside(task_type: str, dispatcher: str):
    """take, on a connection of its own."""
    with ThreadPoolExecutor(1) as pool:
        taken = pool.submit(take, task_type, dispatcher)
        pool.submit(connections.close_all).result()
        return taken.result()


def test_a_limit_that_another_beat_has_declared_since_holds_at_once():
    many("T_THREE", 10)
    fleet = Fleet()
    fleet._dispatcher.run_once(anybodys(), conf().SHARDS)  # has read that three may run
    TypeLimit.objects.filter(task_type="T_THREE").update(max_running=1)

    fleet.look()

    assert ScheduleTask.objects.filter(status="RUNNING").count() == 1


def test_a_task_that_somebody_holds_does_not_hold_up_the_others_of_its_type():
    many("T_THREE", 4)
    locked = ScheduleTask.objects.order_by("due_at", "id").first().id

    _, taken = overlap_results(
        lambda: ScheduleTask.objects.select_for_update().get(id=locked), lambda: take("T_THREE").tasks
    )

    assert (taken.value, taken.waited) == (3, False)
    assert row(locked).status == "INIT"


def test_a_claim_that_rolled_back_has_spent_nothing():
    many("T_RATED", 500)
    overlap(lambda: take("T_RATED"), lambda: None, commit=False)

    assert take("T_RATED").tasks == BURST


def test_a_limited_backlog_does_not_hold_up_other_types_of_its_lane():
    many("T_SERIAL", 300)
    dispatcher = Fleet()
    dispatcher.look()
    other = schedule("T_QUIET", "other")

    wait_until(lambda: dispatcher.look() and row(other.task_id).status == "RUNNING")

    assert all(view.next_due is None for view in peek("test", anybodys()).lanes)  # it is not even looked at
    assert ScheduleTask.objects.filter(task_type="T_SERIAL", status="RUNNING").count() == 1


class Fleet:
    """A dispatcher that holds all shards, and what it published."""

    def __init__(self, kind=Dispatcher) -> None:
        self.batches = []
        self._dispatcher = kind("test", self.batches.extend, Listener(nodes.new_node_id()))

    def look(self, most: int = 20):
        for _ in range(most):
            look = self._dispatcher.run_once(anybodys(), conf().SHARDS)
            if look.wait_seconds > 0:
                return look
        raise AssertionError("it spins")


def test_a_dispatcher_claims_what_the_limits_allow_and_waits_for_the_gate():
    many("T_THREE", 10)
    fleet = Fleet()

    look = fleet.look()

    assert sum(batch.size for batch in fleet.batches) == 3
    assert 0 < look.wait_seconds <= 0.02


def test_a_lane_that_is_full_is_looked_at_again_soon_and_one_without_workers_is_not():
    """Else short batches of a limited type run out long before the next look."""

    @handler("T_WIDE", rate=100_000, burst=100_000)
    def wide(task):
        pass

    try:
        declare_limits(REGISTRY)
        age_bucket("T_WIDE", 60)
        many("T_WIDE", 500)
        assert 0 < Fleet().look().wait_seconds <= 0.02
        assert 0 < ScheduleTask.objects.filter(status="RUNNING").count() < 500  # as much as there is room for
        Node.objects.all().delete()
        assert Fleet().look().wait_seconds == conf().LOOK_SECONDS
    finally:
        REGISTRY.discard("T_WIDE")


def test_a_limited_type_is_claimed_by_the_beat_that_holds_its_shard_and_no_other():
    many("T_THREE", 10)
    home = home_of("T_THREE", conf().SHARDS)
    assert set(ScheduleTask.objects.values_list("shard", flat=True)) == {home}
    dispatcher = Dispatcher("test", lambda batches: None, Listener(nodes.new_node_id()))

    for _ in range(3):
        dispatcher.run_once({shard: 0 for shard in range(conf().SHARDS) if shard != home}, conf().SHARDS)
    assert not TaskBatch.objects.exists()

    for _ in range(3):
        dispatcher.run_once({home: 0}, conf().SHARDS)
    assert TaskBatch.objects.exists()


def test_a_limited_type_is_claimed_while_beats_with_two_numbers_of_shards_run_side_by_side(settings):
    """A deploy that changes SHARDS: each beat must not take the type for the other's."""
    many("T_THREE", 10)
    old, new = home_of("T_THREE", 16), home_of("T_THREE", 7)
    assert old != new

    for shards, mine in ((16, new), (7, old)):
        settings.PUNCTUAL = settings.PUNCTUAL | {"SHARDS": shards}
        dispatcher = Dispatcher(f"beat of {shards}", lambda batches: None, Listener(nodes.new_node_id()))
        for _ in range(3):
            dispatcher.run_once({mine: 0}, 16)

    assert TaskBatch.objects.exists()


def test_a_limit_that_another_beat_declared_is_known_soon(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_TTL_SECONDS": 3600.0}
    TypeLimit.objects.all().delete()
    fleet = Fleet()
    fleet._dispatcher._limits.gates._declared = True  # its code is older than the limit
    fleet.look()
    declare_limits(REGISTRY)
    task = schedule("T_THREE", "a")

    wait_until(lambda: fleet.look() and row(task.task_id).status == "RUNNING")


def test_the_look_that_reads_a_new_limit_sees_what_is_due_under_it():
    TypeLimit.objects.all().delete()
    fleet = Fleet()
    dispatcher = fleet._dispatcher
    dispatcher._limits.gates._declared = True
    fleet.look()
    declare_limits(REGISTRY)
    schedule("T_THREE", "a")
    assert dispatcher._limits.gates._due == {}

    dispatcher._scanner._positions._full_scan_at = -inf  # LOOK_SECONDS later
    dispatcher._scan_ahead()

    assert [task_type for task_type, _ in dispatcher._limits.gates._due] == ["T_THREE"]


def test_what_gates_go_by_is_read_after_two_seconds_however_seldom_all_is_looked_at(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 3600.0}
    fleet = Fleet()
    fleet.look()
    TypeLimit.objects.filter(task_type="T_THREE").update(max_running=None)
    dispatcher = fleet._dispatcher
    dispatcher._scan_ahead()
    assert dispatcher._limits.gates.meters("T_THREE")

    dispatcher._limits.gates._read_at -= 2.0
    dispatcher._scan_ahead()

    assert not dispatcher._limits.gates.meters("T_THREE")


def test_a_quiet_look_is_one_statement_with_all_that_a_beat_asks(django_assert_num_queries):
    TypeLimit.objects.all().delete()
    fleet = Fleet()
    fleet._dispatcher._limits.gates._declared = True
    fleet.look()
    fleet._dispatcher._scanner._positions._full_scan_at = -inf

    with django_assert_num_queries(1):
        look = fleet._dispatcher.run_once(anybodys(), conf().SHARDS)

    assert (look.besides.turns, look.besides.subscriptions, look.besides.gates) == (False, False, [])


def test_a_gate_opens_when_the_next_token_is_there_and_not_a_whole_one_later():
    TypeLimit.objects.filter(task_type="T_RATED").update(rate=0.001, burst=1, permits=0.9)
    many("T_RATED", 2)
    fleet = Fleet()
    fleet._dispatcher._limits.gates._declared = True

    fleet.look()

    # A tenth of a token: a hundred seconds, and not a thousand.
    assert 50 < fleet._dispatcher._limits.gates._opens["T_RATED"] - time.monotonic() <= 100


def test_a_gate_behind_which_tasks_run_long_is_asked_less_and_less_often():
    many("T_SERIAL", 2)
    fleet = Fleet()
    assert fleet.look().wait_seconds <= 0.02
    gates = fleet._dispatcher._limits.gates
    gates._opens.clear()
    fleet.look()
    gates._closed_since["T_SERIAL"] -= 60
    gates._opens.clear()
    before = time.monotonic()

    assert fleet.look().wait_seconds <= 0.25
    assert gates._opens["T_SERIAL"] >= before + 0.25

    run_batch(fleet.batches[0].batch_no, guarded=False)
    gates._opens.clear()
    assert fleet.look().wait_seconds == conf().LOOK_SECONDS
    assert len(fleet.batches) == 2
    assert gates._closed_since == {}


def test_a_backlog_without_limit_leaves_room_in_its_lane_for_what_has_one():
    serial = schedule("T_SERIAL", "the oldest of all")
    many("T_QUIET", 2000)
    fleet = Fleet()
    fleet.look()

    for _ in range(4):
        # One batch starts, and so there is room for one.
        TaskBatch.objects.filter(batch_no=fleet.batches.pop(0).batch_no).update(started_at=timezone.now())
        fleet.look()

    assert row(serial.task_id).status == "RUNNING"


def test_what_has_no_limit_any_more_leaves_room_for_what_never_had_one():
    many("T_THREE", 2000)
    TypeLimit.objects.filter(task_type="T_THREE").update(max_running=None)
    schedule_many("T_QUIET", [{"key": n} for n in range(100)])
    fleet = Fleet()
    fleet._dispatcher._limits.gates._declared = True
    fleet.look()

    for _ in range(4):
        TaskBatch.objects.filter(batch_no=fleet.batches.pop(0).batch_no).update(started_at=timezone.now())
        fleet.look()

    assert {batch.task_type for batch in TaskBatch.objects.all()} == {"T_THREE", "T_QUIET"}


def test_a_limited_type_in_a_busy_lane_is_looked_at_again_as_soon_as_any_other():
    """Nobody signals a batch that starts; a beat with few shards has room for a batch or two."""
    many("T_RATED", 500)
    dispatcher = Dispatcher("test", lambda batches: None, Listener(nodes.new_node_id()))
    shards = {home_of("T_RATED", conf().SHARDS): 0}

    for _ in range(4):
        look = dispatcher.run_once(shards, conf().SHARDS)

    assert TaskBatch.objects.exists()
    assert 0 < look.wait_seconds <= 0.1


def test_a_limit_holds_in_every_lane_together():
    many("T_THREE", 2, lane="critical")
    schedule_many("T_THREE", [{"key": f"low {n}"} for n in range(10)], lane="low")
    fleet = Fleet()

    fleet.look()
    TypeLimit.objects.update(permits=0)

    assert ScheduleTask.objects.filter(status="RUNNING").count() <= 3


def test_of_the_lanes_of_a_limited_type_the_one_that_has_waited_for_longest_is_next_so_that_none_starves():
    oldest = schedule("T_SERIAL", "oldest", lane="low").task_id
    schedule("T_SERIAL", "urgent", lane="critical")

    Fleet().look()

    assert list(ScheduleTask.objects.filter(status="RUNNING").values_list("id", flat=True)) == [oldest]


def test_a_claim_under_a_limit_that_fails_leaves_the_others_on_their_way():
    other = schedule("T_QUIET", "other")
    many("T_THREE", 3)
    fleet = Fleet()
    fleet._dispatcher.run_once(anybodys(), conf().SHARDS)
    fleet._dispatcher._limits._limited_first = True
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE punctual_type_limit RENAME TO punctual_type_limit_gone")
    try:
        for _ in range(2):
            with pytest.raises(DatabaseError):
                fleet._dispatcher.run_once(anybodys(), conf().SHARDS)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE punctual_type_limit_gone RENAME TO punctual_type_limit")

    assert row(other.task_id).status == "RUNNING"
    assert [batch.task_type for batch in fleet.batches] == ["T_QUIET"]


def test_a_lane_without_room_gives_nothing_whatever_the_limit():
    from tasks_app.engine.operations import lanes

    many("T_THREE", 10)
    lanes.pause("default", reason="test", by="test")
    fleet = Fleet()

    fleet.look()

    assert fleet.batches == []


def test_tasks_scheduled_by_who_did_not_know_the_limit_come_under_it():
    """Before the type had one, or by old code in a rolling deploy, or while such a task was running."""
    many("T_THREE", 20)
    many("T_QUIET", 5)
    ScheduleTask.objects.update(limited=False)
    fleet = Fleet()

    fleet.look()
    fleet.look()

    assert ScheduleTask.objects.filter(task_type="T_THREE", status="RUNNING").count() == 3
    assert ScheduleTask.objects.filter(task_type="T_QUIET", status="RUNNING").count() == 5
    assert sum(batch.size for batch in fleet.batches) == 8
    assert not ScheduleTask.objects.filter(task_type="T_THREE", limited=False).exists()
    assert not ScheduleTask.objects.filter(task_type="T_QUIET", limited=True).exists()


def test_the_beat_started_last_is_right_and_a_type_without_limit_is_claimed_freely():
    many("T_THREE", 10)
    TypeLimit.objects.filter(task_type="T_THREE").update(max_running=None)

    assert take("T_THREE").tasks == 10

    declare_limits(REGISTRY)
    assert TypeLimit.objects.get(task_type="T_THREE").max_running == 3


def test_only_types_with_a_limit_are_declared():
    assert set(limits()) == {"T_RATED", "T_THREE", "T_SERIAL", "STOCK_SYNC"}


def test_a_replaced_task_stays_under_its_limit():
    schedule("T_THREE", "a")
    take("T_THREE")

    moved = reschedule("T_THREE", "a", delay=60)

    assert (moved.outcome, row(moved.task_id).limited) == ("REPLACED", True)


def test_a_walk_over_what_is_scheduled_finds_limited_tasks_too():
    many("T_THREE", 5, delay=3600)

    assert waiting_keys("T_THREE", ScheduleTask.objects.none())[0] == 5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate": 0}, "rate=0 must be more than 0"),
        ({"rate": float("nan")}, "must be more than 0"),
        ({"rate": "100"}, "must be more than 0"),
        ({"rate": True}, "must be more than 0"),
        ({"rate": 1e300}, "must be from 0.000001 to 1,000,000 tasks a second"),
        ({"rate": 1e-300}, "must be from 0.000001 to 1,000,000 tasks a second"),
        ({"burst": 5}, "has no rate to go with"),
        ({"rate": 1, "burst": 0}, "burst=0 must be a whole number from 1"),
        ({"rate": 1, "burst": 1.5}, "must be a whole number"),
        ({"max_running": 0}, "max_running=0 must be a whole number from 1"),
        ({"max_running": True}, "must be a whole number"),
    ],
)
def test_bad_limits_are_refused(options, words):
    with pytest.raises(InvalidConfiguration, match=words):
        handler("UNIT_BAD_LIMIT", **options)


def test_the_burst_is_a_second_of_the_rate_unless_told():
    @handler("UNIT_LIMIT", rate=2.5)
    def run(task): ...

    try:
        assert REGISTRY.get("UNIT_LIMIT").limit == Limit(2.5, 3.0, None)
    finally:
        REGISTRY.discard("UNIT_LIMIT")
