"""Shard leases: fair shares, renewal, take-over, hand-over; and that nothing but efficiency depends on them."""

import threading
from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import DatabaseError, connection, connections

from django_punctual import schedule_many
from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.engine import nodes
from tasks_app.engine.beat.leases import Leases
from tasks_app.lifecycle.claim import LaneShare, claim
from tasks_app.lifecycle.shards import all_shards
from tasks_app.models import ScheduleTask, ShardLease
from tasks_app.sql import _text, execute, run
from tests.support.engine import batch_row, row
from tests.support.marks import commits
from tests.support.moves import scheduled
from tests.support.overlap import overlap, overlap_results
from tests.support.wait import wait_until

pytestmark = commits

SHARES = [LaneShare(lane, 1000, 1000) for lane in LANES]


class Beat:
    """The leases of a beat, and whom it told."""

    def __init__(self, name: str) -> None:
        self.node_id = nodes.new_node_id()
        self.told: list[str] = []
        self.leases = Leases(self.node_id, name, self.told.extend)

    def look(self) -> dict[int, int]:
        self.told.clear()
        return self.leases.run_once()


def beats(number: int) -> list[Beat]:
    """So many, each with its fair share."""
    fleet = [Beat(f"beat-{n}") for n in range(number)]
    for _ in range(2):
        for beat in fleet:
            beat.look()
    return fleet


def report(beat: Beat) -> None:
    """What the other thread of a beat does, without any chore."""
    none = {"names": [], "everys": [], "wanted": [], "keep": 600.0, "done": [], "ago": []}
    me = {"node_id": beat.node_id, "name": "a beat", "dispatching": False, "figures": None, "site": "main"}
    run("take_chores", me | none)


def holders() -> dict[int, UUID | None]:
    return dict(ShardLease.objects.values_list("shard", "holder"))


def let_expire(beat: Beat) -> None:
    """Time is moved by writing it: this beat has been silent for longer than its lease."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE punctual_shard_lease SET lease_until = now() - interval '1 s' WHERE holder = %s", [beat.node_id]
        )
        cursor.execute(
            "UPDATE punctual_node SET renewed_at = now() - interval '1 hour' WHERE node_id = %s", [beat.node_id]
        )


def test_one_beat_holds_all_shards():
    [beat] = beats(1)

    assert sorted(beat.look()) == list(range(conf().SHARDS))
    assert set(holders().values()) == {beat.node_id}


@pytest.mark.parametrize(
    ("number", "shares"), [(2, [8, 8]), (3, [6, 5, 5]), (5, [4, 3, 3, 3, 3]), (12, [2] * 4 + [1] * 8)]
)
def test_beats_share_the_shards_fairly_and_every_shard_has_one_holder(number, shares):
    fleet = beats(number)

    held = [beat.look() for beat in fleet]

    assert sorted(map(len, held), reverse=True) == shares
    assert sorted(shard for one in held for shard in one) == list(range(conf().SHARDS))


def test_more_beats_than_shards_leave_some_without(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHARDS": 2}
    fleet = beats(3)

    assert sorted(len(beat.look()) for beat in fleet) == [0, 1, 1]


def test_a_beat_that_comes_takes_its_share_at_once_and_tells_those_it_took_from():
    one, two = beats(2)
    newcomer = Beat("newcomer")

    held = newcomer.look()

    assert len(held) in (5, 6)
    assert set(newcomer.told) == {str(one.node_id), str(two.node_id)}
    lost = one.leases.held.keys() & held.keys()
    assert lost
    assert not one.look().keys() & lost


def test_renewing_keeps_the_fencing_number_and_a_new_holder_makes_it_grow():
    one, two = beats(2)
    before = dict(ShardLease.objects.values_list("shard", "fence"))
    assert one.look() | two.look() == before

    let_expire(two)
    after = one.look()

    assert {shard: after[shard] - before[shard] for shard in after} == {
        shard: int(shard in two.leases.held) for shard in range(conf().SHARDS)
    }


def test_shards_of_a_beat_that_died_are_taken_over_and_the_status_says_from_whom():
    one, two = beats(2)
    let_expire(two)

    assert len(one.look()) == conf().SHARDS
    taken = ShardLease.objects.filter(taken_how=ShardLease.EXPIRED)
    assert {lease.shard for lease in taken} == two.leases.held.keys()
    assert {lease.taken_from for lease in taken} == {"beat-1"}


def test_whoever_takes_over_from_a_beat_that_died_returns_what_it_had_claimed_and_nobody_started():
    one, two = beats(2)
    tasks = scheduled(*(f"k{n}" for n in range(50)))
    claim(SHARES, {}, "beat-1", dict.fromkeys(all_shards()))

    one.look()
    assert {row(task).status for task in tasks} == {"RUNNING"}

    let_expire(two)
    one.look()
    assert {(row(task).status, row(task).due_at is None) for task in tasks} == {("INIT", False)}


def test_unstarted_batches_that_could_not_be_returned_at_once_are_returned_with_the_next_look():
    one, two = beats(2)
    [task] = scheduled("a")
    claim(SHARES, {}, "beat-1", dict.fromkeys(all_shards()))
    let_expire(two)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE punctual_batch RENAME TO punctual_batch_gone")
        try:
            with pytest.raises(DatabaseError):
                one.look()
        finally:
            cursor.execute("ALTER TABLE punctual_batch_gone RENAME TO punctual_batch")

    one.look()

    assert row(task).status == "INIT"


def test_a_lease_that_has_not_run_out_is_not_taken():
    one, two = beats(2)

    assert one.look().keys().isdisjoint(two.leases.held)


def set_clock_back(beat: Beat) -> None:
    """What this beat wrote was written an hour ahead."""
    with connection.cursor() as cursor:
        for change in (
            "punctual_shard_lease SET lease_until = lease_until",
            "punctual_node SET renewed_at = renewed_at",
        ):
            column = "holder" if "shard" in change else "node_id"
            cursor.execute(f"UPDATE {change} + interval '1 hour' WHERE {column} = %s", [beat.node_id])


def test_a_beat_that_died_before_the_clock_was_set_back_does_not_keep_its_shards_until_it_has_caught_up():
    one, two, three = beats(3)
    set_clock_back(two)

    assert len(one.look()) > 8  # what that beat held, whatever the share
    assert [len(beat.look()) for beat in (three, one)] == [8, 8]  # and it counts for none


def test_a_long_lease_of_a_beat_that_renews_is_not_taken_for_one_of_a_clock_that_was_set_back():
    """Two settings of SHARD_LEASE_SECONDS side by side."""
    one, two = beats(2)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE punctual_shard_lease SET lease_until = lease_until + interval '1 hour'")

    assert one.look().keys().isdisjoint(two.leases.held)


def test_a_beat_that_is_alive_when_the_clock_is_set_back_gets_its_share_again():
    one, two = beats(2)
    for beat in (one, two):
        set_clock_back(beat)

    for _ in range(2):
        for beat in (one, two):
            beat.look()

    assert [len(beat.look()) for beat in (one, two)] == [8, 8]


def test_a_beat_looks_when_the_lease_of_another_runs_out_and_not_a_third_of_its_own_later():
    one, two = beats(2)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE punctual_shard_lease SET lease_until = clock_timestamp() + interval '500 ms' WHERE holder = %s",
            [two.node_id],
        )

    one.look()

    assert one.leases.wait_seconds < 0.6 < conf().SHARD_LEASE_SECONDS / 3


def test_a_beat_that_was_away_for_longer_than_its_lease_holds_nothing_until_it_has_contended_again(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHARD_LEASE_SECONDS": 0.000001}
    beat = Beat("frozen")
    beat.look()

    assert beat.leases.held == {}

    settings.PUNCTUAL = settings.PUNCTUAL | {"SHARD_LEASE_SECONDS": 60.0}
    assert len(beat.look()) == conf().SHARDS


def test_a_beat_that_lost_its_shards_contends_for_its_share_again():
    one, two = beats(2)
    let_expire(two)
    one.look()

    assert len(two.look()) == 8
    assert len(one.look()) == 8


def test_a_clean_shutdown_frees_the_shards_and_tells_the_others():
    one, two = beats(2)

    two.told.clear()
    two.leases.release()

    assert two.leases.held == {}
    assert two.told == [str(one.node_id)]
    assert len(one.look()) == conf().SHARDS
    assert set(ShardLease.objects.values_list("taken_how", "taken_from")) == {
        (ShardLease.FREE, ""),
        (ShardLease.FREE, "beat-1"),
    }


def test_a_beat_that_released_counts_for_no_share_until_it_holds_again():
    one, two, three = beats(3)
    three.leases.release()
    report(three)  # alive, and doing its chores

    one.look()

    assert [len(beat.look()) for beat in (two, one)] == [8, 8]
    assert len(three.look()) in (5, 6)


def test_two_beats_that_come_at_once_never_wait_for_each_other_and_get_no_shard_twice():
    [old] = beats(1)
    one, two = Beat("one"), Beat("two")

    first, second = overlap_results(one.look, two.look)

    assert second.waited is False
    assert first.error is second.error is None
    assert not first.value.keys() & second.value.keys()
    assert old.look().keys().isdisjoint(first.value.keys() | second.value.keys())


@pytest.mark.parametrize("chores_first", [True, False])
def test_the_two_threads_of_a_beat_that_report_it_never_wait_for_each_other(chores_first):
    [beat] = beats(1)
    sides = [lambda: report(beat), beat.look]

    _, second = overlap_results(*(sides if chores_first else reversed(sides)))

    assert (second.error, second.waited) == (None, False)


def test_a_lease_renewed_at_the_last_moment_is_not_taken_over():
    one, two = beats(2)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE punctual_shard_lease SET lease_until = now() - interval '1 s'")

    kept, taken = overlap(two.look, one.look)

    assert kept.keys() == two.leases.held.keys()
    assert not taken.keys() & kept.keys()
    assert len(one.look()) == 8


def test_fewer_shards_in_the_settings_strand_no_task(settings):
    scheduled(*(f"k{n}" for n in range(50)))
    beats(1)
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHARDS": 4}
    [beat] = beats(1)
    let_expire_all()

    assert sorted(beat.look()) == list(range(16)) == all_shards()
    assert sum(batch.size for batch in claim(SHARES, {}, "test", beat.leases.held)) == 50


def let_expire_all() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE punctual_shard_lease SET lease_until = now() - interval '1 s'")
        cursor.execute("UPDATE punctual_node SET renewed_at = NULL")


def test_a_shard_that_has_another_holder_gives_its_old_one_nothing_even_before_he_has_noticed():
    one, two = beats(2)
    scheduled(*(f"k{n}" for n in range(50)))
    let_expire(one)
    two.look()

    assert claim(SHARES, {}, "one", one.leases.held) == []
    assert sum(batch.size for batch in claim(SHARES, {}, "two", two.leases.held)) == 50


def test_two_beats_convinced_that_they_hold_the_same_shards_claim_every_task_once():
    """The fencing numbers are left out: leases are for efficiency, the row locks keep two claims apart."""
    ids = [answer.task_id for answer in schedule_many("T_QUIET", [{"key": n} for n in range(200)])]
    convinced = dict.fromkeys(all_shards())

    first, second = overlap(
        lambda: claim([LaneShare("default", 5, 1000)], {}, "one", convinced),
        lambda: claim(SHARES, {}, "two", convinced),
    )

    claimed = [task_id for batch in (*first, *second) for task_id in batch_row(batch).ids]
    assert first
    assert second
    assert sorted(claimed) == sorted(ids)
    assert set(ScheduleTask.objects.values_list("status", flat=True)) == {"RUNNING"}


def test_renewing_a_shard_that_was_taken_since_the_look_leaves_it_and_its_number_to_whoever_took_it():
    [one] = beats(1)
    two = Beat("two")

    renewed, taken = look_slowly(one, two.look)

    assert len(taken) == conf().SHARDS // 2
    assert taken.keys().isdisjoint(renewed)
    assert {shard for shard, holder in holders().items() if holder == two.node_id} == taken.keys()


def test_taking_over_a_shard_that_was_renewed_since_the_look_leaves_it_to_its_holder():
    one, two = beats(2)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE punctual_shard_lease SET lease_until = now() - interval '1 s' WHERE holder = %s", [two.node_id]
        )

    taken, renewed = look_slowly(one, two.look)

    assert len(renewed) == 8
    assert renewed.keys().isdisjoint(taken)
    assert {shard for shard, holder in holders().items() if holder == two.node_id} == renewed.keys()


def test_a_free_shard_that_was_taken_since_the_look_is_left_to_whoever_took_it():
    one, two = beats(2)
    two.leases.release()
    one.leases.release()
    three = Beat("three")

    taken, first = look_slowly(three, one.look)

    assert len(first) == conf().SHARDS
    assert taken == set()
    assert set(holders().values()) == {one.node_id}


def look_slowly(beat: Beat, meanwhile: Callable[[], dict[int, int]]) -> tuple[set[int], dict[int, int]]:
    """The shards that this beat gets if something happens between its look and its locks; and what that gave."""
    slow = _text("hold_shards").replace(
        "FROM wanted w JOIN", "FROM (SELECT w.* FROM wanted w, pg_sleep(0.5)) AS w JOIN"
    )
    assert "pg_sleep" in slow
    got: set[int] = set()

    def look() -> None:
        ask = {"node_id": beat.node_id, "name": "slow", "site": "main", "ttl": 60.0}
        ask |= {"dispatching": True, "figures": None, "forget": 60.0}
        got.update(row[2] for row in execute(slow, ask) if row[2] is not None)
        connections.close_all()

    thread = threading.Thread(target=look)
    thread.start()
    wait_until(lambda: _asleep())
    given = meanwhile()
    thread.join()
    return got, given


def _asleep() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
        return cursor.fetchone()[0] > 0
