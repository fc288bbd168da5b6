"""Sieves: what is in the past is found with them as without, and partitions that can't hold it are left alone."""

import random
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection

from django_punctual import Outcome, cancel, ensure, find, reschedule, schedule
from tasks_app import scope
from tasks_app.database import atomic
from tasks_app.engine.beat.tend import tend
from tasks_app.lifecycle.past import past_idem, past_units
from tasks_app.models import Sieve
from tasks_app.sql import execute, run
from tasks_app.storage.partitions import drop, make, partitions
from tasks_app.storage.sieves import Sieveless, make_sieve, sieveless
from tests.support.archive import SPAN, add_to_day, days_ago, past_day
from tests.support.marks import commits
from tests.support.moves import TUESDAY, TYPE
from tests.support.overlap import overlap_results

pytestmark = commits
FAMILY = "punctual_past_default"


@pytest.fixture(autouse=True)
def _only_what_a_test_makes() -> Iterator[None]:
    """No partition but those of its own, and none after it."""
    for one in partitions(FAMILY):
        execute(f"DROP TABLE {one.name}")
    yield
    execute("DELETE FROM punctual_sieve")
    execute("DELETE FROM punctual_sieve_late")
    for one in partitions(FAMILY):
        execute(f"DROP TABLE {one.name}")


@pytest.fixture
def other() -> Iterator[psycopg.Connection]:
    """A session of somebody else."""
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as session:
        yield session


def without_sieve(name: str) -> Sieveless:
    return next(one for one in sieveless(0) if one.name == name)


def sieved_day(ago: int, ids: range) -> str:
    name = past_day(days_ago(ago), ids)
    assert make_sieve(without_sieve(name))
    return name


def unit(number: int, key: str | None = None) -> tuple[str, str, str]:
    """As tests/support/archive.py makes them."""
    return f"tenant-{number % 3}", f"TYPE_{number % 2}", key or f"k{number:03}"


def lose_prints() -> None:
    execute("UPDATE punctual_sieve_part SET prints = '{}'")
    execute("DELETE FROM punctual_sieve_late")


# Finding


def test_what_is_in_a_partition_with_a_sieve_is_found_by_unit_and_by_idempotency_key():
    sieved_day(3, range(10, 20))
    sieved_day(2, range(20, 30))
    past_day(days_ago(1), range(30, 40))
    units = [unit(number) for number in range(10, 40)]

    assert {one: row.id for one, row in past_units(units).items()} == dict(zip(units, range(10, 40), strict=True))
    tenant, task_type, key = unit(12)
    assert past_units([(tenant, task_type, "another"), ("tenant-9", task_type, key), (tenant, "TYPE_9", key)]) == {}
    assert past_idem([("tenant-0", "idem-0")]) == {("tenant-0", "idem-0"): 36}  # the newest of those that have it


def test_every_verb_finds_what_is_in_a_partition_with_a_sieve():
    name = past_day(days_ago(3), range(12, 13))
    execute(f"UPDATE {name} SET task_type = %s", [TYPE])
    assert make_sieve(without_sieve(name))

    assert find(TYPE, "k012", tenant="tenant-0").id == 12
    assert not cancel(TYPE, "k012", tenant="tenant-0").cancelled
    assert reschedule(TYPE, "k012", at=TUESDAY, tenant="tenant-0").outcome == Outcome.IGNORED
    assert schedule(TYPE, "new", tenant="tenant-0", idem_key="idem-0").outcome == Outcome.EXISTS


def test_nobody_looks_into_a_partition_whose_sieve_does_not_know_the_unit():
    sieved_day(3, range(10, 20))
    sieved_day(2, range(20, 30))

    lose_prints()

    assert past_units([unit(12), unit(22)]) == {}
    assert past_idem([("tenant-0", "idem-0")]) == {}
    assert find(unit(12)[1], unit(12)[2], tenant=unit(12)[0]) is None


def test_of_two_rows_of_a_unit_in_two_partitions_the_newer_is_found():
    sieved_day(3, range(12, 13))
    name = past_day(days_ago(2), range(24, 25))
    execute(f"UPDATE {name} SET biz_key = 'k012'")
    assert make_sieve(without_sieve(name))

    assert [row.id for row in past_units([unit(12)]).values()] == [24]


def test_what_no_sieve_covers_is_looked_into_whatever_lies_between():
    past_day(days_ago(5), range(10, 20))
    sieved_day(4, range(20, 30))
    past_day(days_ago(3), range(30, 40))
    sieved_day(2, range(40, 50))
    past_day(days_ago(1), range(50, 60))

    lose_prints()

    found = past_units([unit(number) for number in range(10, 60)])
    assert sorted(row.id for row in found.values()) == [*range(10, 20), *range(30, 40), *range(50, 60)]


def test_a_sieve_knows_all_that_is_there_and_hardly_anything_else():
    dice = random.Random(5)
    [name] = {past_day(days_ago(2), range(first, first + 1000)) for first in range(1000, 6000, 1000)}
    assert make_sieve(without_sieve(name))
    [sieve] = Sieve.objects.all()
    assert sieve.buckets > 5

    known = execute(
        "SELECT count(*) FROM unnest(%(keys)s::text[]) AS key"
        " CROSS JOIN punctual_unit_mark('tenant-1', 'TYPE_1', key) AS mark"
        " JOIN punctual_sieve s ON TRUE"
        " JOIN punctual_sieve_part b ON b.sieve = s.id AND b.bucket = punctual_bucket(mark, s.buckets)"
        " WHERE punctual_print(mark) = ANY (b.prints)",
        {"keys": [f"other-{dice.random()}" for _ in range(10_000)]},
    )

    assert known[0][0] < 300  # 500 of 65,536 would be 76
    asked = [unit(number) for number in range(1000, 6000)]
    assert len(past_units(asked)) == 5000


# Whatever comes later


def test_what_comes_to_a_partition_that_has_a_sieve_comes_to_the_sieve():
    sieved_day(2, range(10, 20))

    execute("UPDATE punctual_past SET idem_key = 'first-' || id")
    lose_prints()
    past_day(days_ago(2), range(20, 30))
    execute("UPDATE punctual_past SET biz_key = 'renamed' WHERE id = 12")

    assert len(past_units([unit(number) for number in range(20, 30)])) == 10
    assert len(past_units([unit(12, "renamed")])) == 1
    assert past_idem([("tenant-0", "idem-0")]) == {("tenant-0", "idem-0"): 24}


@pytest.mark.parametrize("tenant", ["tenant-0", None])
def test_a_request_finds_by_a_sieve_that_it_may_not_write(tenant):
    name = past_day(days_ago(2), range(12, 13))
    execute(f"UPDATE {name} SET task_type = %s", [TYPE])
    assert make_sieve(without_sieve(name))

    with scope.request():
        scope.settle(tenant)
        assert find(TYPE, "k012", tenant="tenant-0").id == 12
        assert schedule(TYPE, "new", tenant="tenant-0", idem_key="idem-0").outcome == Outcome.EXISTS
        assert ensure(TYPE, "k012", at=TUESDAY, tenant="tenant-0").outcome == Outcome.CREATED


def test_what_is_brought_without_triggers_comes_to_the_sieve_all_the_same(other):
    name = sieved_day(2, range(10, 20))
    other.execute("SET session_replication_role = replica")  # as a subscriber of a publication does, and pg_restore

    other.execute(f"UPDATE {name} SET biz_key = 'renamed' WHERE id = 12")

    assert len(past_units([unit(12, "renamed")])) == 1


def test_a_sieve_is_not_begun_while_somebody_brings_something_to_its_partition(other):
    name = past_day(days_ago(2), range(10, 20))
    other.execute("BEGIN")
    other.execute(f"INSERT INTO {name} SELECT * FROM {name} WHERE id = 10")

    assert not make_sieve(without_sieve(name))
    assert not Sieve.objects.exists()

    other.execute("COMMIT")
    assert make_sieve(without_sieve(name))


@pytest.mark.parametrize("commit", [True, False])
def test_what_comes_while_a_sieve_is_filled_is_known_and_nobody_waits(commit):
    one = without_sieve(past_day(days_ago(2), range(10, 20)))
    with atomic():
        ((sieve,),) = execute("SELECT punctual_begin_sieve(%s, %s)", [one.name, one.buckets])

    brought, filled = overlap_results(
        lambda: add_to_day(days_ago(2), range(20, 30)),
        lambda: execute("SELECT punctual_fill_sieve(%s)", [sieve]),
        commit=commit,
    )
    Sieve.objects.update(ready=True)

    assert (brought.error, filled.error, filled.waited) == (None, None, False)
    assert len(past_units([unit(number) for number in range(10, 20)])) == 10
    assert len(past_units([unit(number) for number in range(20, 30)])) == (10 if commit else 0)


def test_two_who_bring_much_late_do_not_wait_for_each_other():
    sieved_day(2, range(10, 20))

    first, second = overlap_results(
        lambda: add_to_day(days_ago(2), range(20, 30)), lambda: add_to_day(days_ago(2), range(30, 40))
    )

    assert (first.error, second.error, second.waited) == (None, None, False)
    assert len(past_units([unit(number) for number in range(10, 40)])) == 30


def test_a_sieve_to_which_much_came_late_is_made_anew():
    name = past_day(days_ago(2), [])
    assert tend().sieved == [name]

    past_day(days_ago(2), range(100, 150))
    assert tend().sieved == []  # less than a fifth of a bucket
    past_day(days_ago(2), range(200, 1200))

    assert tend().sieved == [name]
    assert tend().sieved == []
    assert Sieve.objects.get().buckets > 1
    tend()
    assert execute("SELECT count(*) FROM punctual_sieve_late") == [(0,)]
    assert len(past_units([unit(number) for number in range(200, 1200)])) == 1000


def test_what_somebody_has_begun_is_left_to_them_for_a_while():
    name = past_day(days_ago(2), range(10, 20))
    with atomic():
        execute("SELECT punctual_begin_sieve(%s, 1)", [name])

    assert tend().sieved == []
    assert not make_sieve(Sieveless(name, 1))  # who has seen it before it was begun

    execute("UPDATE punctual_sieve SET begun_at = now() - interval '31 minutes'")
    assert tend().sieved == [name]


def test_who_sees_the_rows_of_one_tenant_only_fills_no_sieve():
    one = without_sieve(past_day(days_ago(2), range(10, 20)))
    [(owner,)] = execute("SELECT tableowner FROM pg_tables WHERE tablename = 'punctual_past'")
    # Who migrates is a superuser here: the function acts as somebody who is none.
    execute("CREATE ROLE sieve_owner NOLOGIN")
    execute("GRANT punctual_web TO sieve_owner")
    execute("GRANT ALL ON punctual_sieve, punctual_sieve_part, punctual_past TO sieve_owner")
    execute("ALTER FUNCTION punctual_fill_sieve(bigint) OWNER TO sieve_owner")
    try:
        assert not make_sieve(one)
        assert not Sieve.objects.filter(ready=True).exists()
        assert len(past_units([unit(12)])) == 1
    finally:
        execute(f"ALTER FUNCTION punctual_fill_sieve(bigint) OWNER TO {owner}")
        execute("DROP OWNED BY sieve_owner")
        execute("DROP ROLE sieve_owner")


def test_who_began_before_the_sieve_and_sees_nothing_newer_is_refused(other):
    name = past_day(days_ago(2), range(10, 20))
    other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    other.execute("SELECT count(*) FROM punctual_task")
    assert make_sieve(without_sieve(name))

    with pytest.raises(psycopg.errors.SerializationFailure, match="was begun after this transaction"):
        other.execute(f"INSERT INTO {name} SELECT * FROM {name} WHERE id = 10")

    other.execute("ROLLBACK")
    other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    other.execute("SELECT count(*) FROM punctual_task")
    assert make_sieve(Sieveless(name, 1))  # anew

    with pytest.raises(psycopg.errors.SerializationFailure):
        other.execute(f"INSERT INTO {name} SELECT * FROM {name} WHERE id = 10")

    other.execute("ROLLBACK")
    other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    other.execute(f"INSERT INTO {name} SELECT * FROM {name} WHERE id = 10")
    other.execute("COMMIT")


def test_one_that_was_begun_and_not_filled_counts_for_nothing_and_is_begun_anew():
    name = past_day(days_ago(2), range(10, 20))
    with atomic():
        execute("SELECT punctual_begin_sieve(%s, 1)", [name])

    assert len(past_units([unit(12)])) == 1
    execute("UPDATE punctual_sieve SET begun_at = now() + interval '1 day'")  # by a clock that was set back since
    assert make_sieve(without_sieve(name))
    lose_prints()
    assert past_units([unit(12)]) == {}


# Partitions that go


def test_a_sieve_counts_for_nothing_once_its_partition_was_dropped_or_detached():
    name = sieved_day(3, range(10, 20))
    drop(next(one for one in partitions(FAMILY) if one.name == name))
    past_day(days_ago(3), range(30, 40))  # of the same name
    assert len(past_units([unit(32)])) == 1

    detached = sieved_day(2, range(20, 30))
    execute(f"ALTER TABLE {FAMILY} DETACH PARTITION {detached}")
    execute(
        f"CREATE TABLE {FAMILY}_instead PARTITION OF {FAMILY} FOR VALUES FROM ('{days_ago(2)}') TO ('{days_ago(1)}')"
    )
    past_day(days_ago(2), range(40, 50))
    assert len(past_units([unit(42)])) == 1
    execute(f"DROP TABLE {detached}")


def test_a_sieve_counts_for_nothing_once_its_class_was_detached_and_made_anew():
    sieved_day(2, range(10, 20))
    execute(f"ALTER TABLE punctual_past DETACH PARTITION {FAMILY}")
    execute(f"ALTER TABLE {FAMILY} RENAME TO punctual_aside")
    run("make_class", {"retention": "default"})
    execute(
        f"CREATE TABLE {FAMILY}_instead PARTITION OF {FAMILY} FOR VALUES FROM ('{days_ago(2)}') TO ('{days_ago(1)}')"
    )
    add_to_day(days_ago(2), range(20, 30))

    assert len(past_units([unit(22)])) == 1

    execute(f"DROP TABLE {FAMILY}")
    execute(f"ALTER TABLE punctual_aside RENAME TO {FAMILY}")
    execute(f"ALTER TABLE punctual_past ATTACH PARTITION {FAMILY} FOR VALUES IN ('default')")


# The chore


def test_a_beat_makes_sieves_of_what_is_long_over_once_and_forgets_those_that_are_gone():
    old = past_day(days_ago(3), range(10, 20))
    brief = past_day(days_ago(3), range(20, 30), "brief")
    make(FAMILY, [days_ago(0)], SPAN)

    assert sorted(tend().sieved) == sorted([old, brief])
    assert tend().sieved == []
    assert len(past_units([unit(12)])) == 1

    drop(next(one for one in partitions(FAMILY) if one.name == old))
    tend()
    assert [one.name for one in Sieve.objects.all()] == [brief]
    assert execute("SELECT DISTINCT sieve FROM punctual_sieve_part") == [(Sieve.objects.get().id,)]
    execute("DROP TABLE punctual_past_brief")


def test_only_partitions_of_the_past_have_sieves():
    for name in ("punctual_task", "punctual_past", FAMILY, "auth_user", "nothing"):
        with pytest.raises(Exception, match="is no partition of the past"), atomic():
            execute("SELECT punctual_begin_sieve(%s, 1)", [name])


def test_a_partition_that_somebody_locks_is_left_for_another_time(other):
    name = past_day(days_ago(3), range(10, 20))
    other.execute("BEGIN")
    other.execute(f"LOCK TABLE {name} IN SHARE MODE")

    assert tend().sieved == []

    other.execute("ROLLBACK")
    assert tend().sieved == [name]
