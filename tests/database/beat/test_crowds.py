"""A lane that tenants share: nobody waits behind another's backlog, shares go by weight, and nothing is left behind."""

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.models import Count
from django.db.models.functions import Now
from django.utils import timezone

from django_punctual import cancel, reschedule, schedule, schedule_many
from tasks_app.conf import conf
from tasks_app.engine import nodes
from tasks_app.engine.beat import crowds
from tasks_app.engine.beat.dispatcher import Dispatcher
from tasks_app.engine.beat.limits import Limits
from tasks_app.engine.beat.listener import Listener
from tasks_app.engine.beat.publisher import publish
from tasks_app.engine.queues import key_of
from tasks_app.engine.wakeup import client
from tasks_app.lifecycle.claim import ClaimedBatch, LaneShare, claim_chosen, read_due
from tasks_app.models import ScheduleTask, TaskBatch, Tenant
from tests.support.engine import anybodys, row
from tests.support.overlap import overlap

pytestmark = pytest.mark.django_db(transaction=True)

LOOKS = 400  # of which a test takes a few dozen


class Beat:
    """A dispatcher with all shards, and workers that start at once whatever they get."""

    def __init__(self) -> None:
        self.batches: list[ClaimedBatch] = []
        self.listener = Listener(nodes.new_node_id())
        self.dispatcher = Dispatcher("test", self.batches.extend, self.listener)

    def look(self) -> None:
        self.dispatcher.run_once(anybodys(), conf().SHARDS)

    def start_all(self) -> None:
        TaskBatch.objects.filter(started_at=None).update(started_at=Now())

    def work(self, until=lambda: False) -> None:
        """Look and start until then, or until nothing is left to claim."""
        for _ in range(LOOKS):
            self.look()
            if until() or not ScheduleTask.objects.filter(due_at__lte=Now()).exists():
                return
            self.start_all()
        raise AssertionError(f"after {LOOKS} looks: {waiting()}")

    @property
    def crowded(self) -> bool:
        return bool(self.dispatcher._claims._backlog.contended.lanes)


@pytest.fixture
def beat(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_TTL_SECONDS": 60.0}
    nodes.report_worker(nodes.new_node_id(), "w1", 2, ["default"])
    beat = Beat()
    yield beat
    beat.listener.close()


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr(crowds, "FIRST_PAUSE", 0)
    monkeypatch.setattr(crowds, "PAUSE", 0)


def tenant(name: str, **values: object) -> str:
    Tenant.objects.create(name=name, **values)
    return name


def backlog(of: str, tasks: int, *, seconds_ago: float = 60.0, at_once: bool = False) -> None:
    """Due for so long, one after the other, or all at the same moment."""
    schedule_many("T_QUIET", [{"key": f"{of} {n}"} for n in range(tasks)], tenant=of)
    step = "0" if at_once else "id - (SELECT min(id) FROM punctual_task WHERE tenant = %(of)s)"
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE punctual_task SET due_at = now() - make_interval(secs => %(ago)s) + interval '1 ms' * ({step})"
            " WHERE tenant = %(of)s AND status = 'INIT'",
            {"ago": seconds_ago, "of": of},
        )


def waiting() -> dict[str, int]:
    due = ScheduleTask.objects.filter(due_at__lte=Now())
    return dict(due.values_list("tenant").annotate(Count("id")).order_by("tenant"))


def claimed(of: str) -> int:
    return ScheduleTask.objects.filter(status="RUNNING", tenant=of).count()


@pytest.fixture
def crowded(beat):
    """A tenant with much that is due, and a beat that has noticed it."""
    tenant("large")
    backlog("large", 600)
    beat.work(until=lambda: beat.crowded)
    beat.look()
    assert waiting()["large"] > 200
    return beat


def test_a_task_of_another_tenant_is_claimed_at_once_and_goes_before_the_batches_that_wait(crowded):
    crowded.look()  # all the room there is is taken
    task = schedule("T_QUIET", "a", tenant="small").task_id
    before = waiting()["large"]

    crowded.look()

    assert (row(task).status, waiting()["large"]) == ("RUNNING", before)
    assert (crowded.batches[-1].size, crowded.batches[-1].first) == (1, True)
    assert not any(batch.first for batch in crowded.batches[:-1])


def test_a_task_that_came_due_long_ago_is_found_behind_the_backlog(beat):
    tenant("large")
    backlog("large", 600)
    backlog("small", 5, seconds_ago=20)

    beat.work(until=lambda: claimed("small") == 5)

    assert waiting()["large"] > 200


def test_one_that_is_committed_late_is_found_where_everything_was_read_before(crowded):
    crowded.look()
    backlog("small", 2, seconds_ago=3600)
    backlog("late", 2, seconds_ago=30)

    crowded.work(until=lambda: claimed("small") == claimed("late") == 2)

    assert waiting()["large"] > 100


def test_what_comes_due_is_found_while_the_walk_through_the_backlog_rests(crowded, monkeypatch):
    monkeypatch.setattr(crowds._Lane, "_step", lambda *_: None)
    task = schedule("T_QUIET", "a", tenant="small").task_id
    crowded.dispatcher.wake()

    crowded.look()

    assert row(task).status == "RUNNING"


def test_one_that_had_many_and_has_few_now_goes_first_again(crowded, monkeypatch):
    monkeypatch.setattr(crowds._Lane, "_read_next", lambda *_: None)  # nothing is chosen since it is behind
    backlog("other", 150, seconds_ago=5)
    lanes = crowded.dispatcher._claims._backlog.contended._lanes
    crowded.work(until=lambda: "default" in lanes and lanes["default"].crowd.many == {"large", "other"})
    for number in range(145):
        cancel("T_QUIET", f"other {number}", tenant="other")

    crowded.work(until=lambda: claimed("other") == 5)

    assert waiting()["large"] > 100 and crowded.batches[-1].first


def test_tenants_whose_tasks_are_claimed_as_soon_as_the_walk_meets_them_have_many_all_the_same(monkeypatch):
    backlog("a", 320)
    backlog("b", 320)
    monkeypatch.setattr(crowds, "WALK_ROWS", 160)  # so that a step meets fewer of each than would be many
    here = crowds.Crowds("test")
    here.begin("default")
    for _ in range(3):
        here.light("default", 0, 0, {}, anybodys())
        here.in_order(LaneShare("default", 10, 20), {"T_QUIET": 20}, anybodys())

    assert (sum(waiting().values()), here._lanes["default"].crowd.many) == (160, {"a", "b"})


def test_what_the_walk_meets_again_is_not_more(monkeypatch):
    backlog("a", 60, at_once=True)
    backlog("b", 600, at_once=True)
    monkeypatch.setattr(crowds, "WALK_ROWS", 64)
    here = crowds.Crowds("test")
    here.begin("default")
    for _ in range(6):
        here.light("default", 0, 0, {}, anybodys())

    assert here._lanes["default"].crowd.many == {"b"}


def test_tenants_with_much_share_by_weight(beat):
    tenant("one")
    tenant("three", weight=300)
    backlog("one", 900, seconds_ago=3600)
    backlog("three", 900, seconds_ago=60)
    beat.work(until=lambda: beat.crowded)
    before = claimed("one"), claimed("three")

    beat.work(until=lambda: claimed("three") > 600)

    one, three = claimed("one") - before[0], claimed("three") - before[1]
    assert 2.0 < three / one < 4.5, (one, three)


def test_nothing_is_left_behind_whoever_comes_and_goes(beat, monkeypatch):
    """Read in pieces of a few rows, with two large tenants, many small ones, and what is cancelled meanwhile."""
    for rows in ("FRESH_ROWS", "WALK_ROWS", "NEXT_ROWS"):
        monkeypatch.setattr(crowds, rows, 64)
    for number in range(8):
        backlog(tenant(f"small {number}"), 6, seconds_ago=100 + number)
    backlog("large", 400, seconds_ago=3600)
    backlog("other", 400, seconds_ago=50)
    beat.work(until=lambda: beat.crowded)
    for number in range(0, 400, 40):
        cancel("T_QUIET", f"other {number}", tenant="other")

    beat.work()

    assert waiting() == {}
    beat.start_all()
    for _ in range(3):
        beat.look()
    assert not beat.crowded


def test_more_tasks_of_one_moment_than_are_read_at_a_time_hide_nobody(beat, monkeypatch):
    monkeypatch.setattr(crowds, "FRESH_ROWS", 16)  # one of each shard
    monkeypatch.setattr(crowds, "WALK_ROWS", 16)
    tenant("large")
    backlog("large", 500, at_once=True)
    backlog("small", 3, seconds_ago=30)

    beat.work(until=lambda: claimed("small") == 3)

    assert waiting()["large"] > 100


def test_a_task_that_somebody_has_locked_is_claimed_when_he_is_done(crowded):
    task = schedule("T_QUIET", "a", tenant="small").task_id

    overlap(lambda: ScheduleTask.objects.select_for_update().get(id=task), crowded.look)
    assert row(task).status == "INIT"

    crowded.work(until=lambda: row(task).status == "RUNNING")


def test_one_that_has_claimed_and_fails_before_it_publishes_is_in_doubt(crowded, monkeypatch):
    schedule("T_QUIET", "a", tenant="small")
    monkeypatch.setattr(Limits, "_without_limited", loses_its_connection)

    with pytest.raises(OperationalError):
        crowded.look()

    assert crowded.dispatcher.in_doubt and claimed("small") == 1


def loses_its_connection(limits: Limits, batches: list[ClaimedBatch]) -> list[ClaimedBatch]:
    """After a claim."""
    if batches:
        raise OperationalError("the connection is lost")
    return batches


def test_without_other_tenants_nothing_is_shared(beat):
    backlog("default", 400)

    beat.work(until=lambda: beat.crowded or claimed("default") > 300)

    assert not beat.crowded


def test_a_lane_whose_workers_keep_up_is_claimed_as_ever(beat):
    tenant("one")
    for number in range(3):
        schedule("T_QUIET", number, tenant="one")
        schedule("T_QUIET", number, tenant="other")

    beat.work(until=lambda: beat.crowded)

    assert not beat.crowded and waiting() == {}


def test_a_crowd_that_has_gone_is_forgotten(crowded):
    crowded.work()
    crowded.start_all()
    crowded.look()
    crowded.look()

    assert not crowded.crowded


def test_another_beat_begins_anew_with_what_is_due(crowded):
    crowded.start_all()
    other = Beat()
    schedule("T_QUIET", "a", tenant="small")

    other.work(until=lambda: claimed("small") == 1)

    other.listener.close()
    assert waiting()["large"] > 100


def test_what_is_read_says_whose_it_is_and_how_far(beat):
    backlog("large", 40)
    backlog("small", 8, seconds_ago=20)
    shards = dict.fromkeys(anybodys(), timezone.now() - timedelta(hours=1))

    read = read_due("default", shards, dict.fromkeys(shards, 1000), ["large"], light=20)

    assert sum(one.seen for one in read.stretches) == 48
    assert {one.tenant: (one.seen, len(one.ids)) for one in read.tenants} == {"large": (40, 0), "small": (8, 8)}
    only = read_due("default", shards, dict.fromkeys(shards, 1000), ["large"], only=True, light=50)
    assert {one.tenant: len(one.ids) for one in only.tenants} == {"large": 40, "small": 0}
    few = read_due("default", shards, dict.fromkeys(shards, 1000), light=20)
    assert {one.tenant: len(one.ids) for one in few.tenants} == {"large": 0, "small": 8}
    nothing = read_due("low", shards, dict.fromkeys(shards, 10), light=20)
    assert ([one.upto for one in nothing.stretches], nothing.tenants) == ([None] * len(shards), [])


@pytest.mark.parametrize("commit", [True, False])
def test_what_is_cancelled_between_the_reading_and_the_claim_stays_cancelled(commit):
    chosen = [schedule("T_QUIET", key, tenant="small").task_id for key in "ab"]

    overlap(
        lambda: cancel("T_QUIET", "a", tenant="small"),
        lambda: claim_chosen(chosen, "default", 5, {}, "test", anybodys()),
        commit=commit,
    )

    assert row(chosen[1]).status == "RUNNING"
    assert row(chosen[0]).status == ("CANCELLED" if commit else "INIT")


@pytest.mark.parametrize("commit", [True, False])
def test_what_is_moved_between_the_reading_and_the_claim_waits_for_its_new_time(commit):
    chosen = [schedule("T_QUIET", "a", tenant="small").task_id]
    later = timezone.now() + timedelta(hours=1)

    overlap(
        lambda: reschedule("T_QUIET", "a", at=later, tenant="small"),
        lambda: claim_chosen(chosen, "default", 5, {}, "test", anybodys()),
        commit=commit,
    )
    again = claim_chosen(chosen, "default", 5, {}, "test", anybodys())

    assert [held for _, held in again] == ([] if commit else [chosen])


@pytest.mark.parametrize("commit", [True, False])
def test_two_beats_that_chose_the_same_task_claim_it_once(commit):
    chosen = [schedule("T_QUIET", "a", tenant="small").task_id]

    def take():
        return claim_chosen(chosen, "default", 5, {}, "test", anybodys())

    first, second = overlap(take, take, commit=commit)

    assert [held for _, held in first] == [chosen] and second == []
    assert row(chosen[0]).status == ("RUNNING" if commit else "INIT")


def test_what_goes_first_is_taken_first_from_the_queue():
    numbers = [f"00000000-0000-0000-0000-00000000000{n}" for n in range(3)]
    with client(1.0) as redis:
        redis.delete(key_of("backfill"))

        publish([ClaimedBatch(one, "backfill", "T_QUIET", 1, one == numbers[2]) for one in numbers])

        taken = [redis.rpop(key_of("backfill")).decode() for _ in numbers]
    assert [next(one for one in numbers if one in message) for message in taken] == [numbers[2], *numbers[:2]]
