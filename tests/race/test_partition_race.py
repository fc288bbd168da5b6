"""Partitions that come and go while others write, read and are killed."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.db import OperationalError, connection

from tasks_app.core.errors import InvalidTask
from tasks_app.database import atomic
from tasks_app.engine.beat.partitions import AHEAD, families, keep_partitions
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.models import AuditEntry
from tasks_app.sql import execute
from tasks_app.storage.partitions import Partition, coming, drop, empty_default, make, partitions
from tests.support.contend import contend
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.overlap import overlap_results
from tests.support.partitions import DIRECT, now, places, write

pytestmark = commits
DAY = timedelta(days=1)
FAR = datetime(2031, 5, 17, 12, tzinfo=UTC)
BOTH = pytest.mark.parametrize("commit", [True, False])
READ = pytest.mark.parametrize("table", [*DIRECT[:3], "punctual_past_default"])


@pytest.fixture(autouse=True)
def _only_the_usual_ones() -> Iterator[None]:
    """What a test makes goes after it."""
    keep_partitions()
    usual = {one.name for family in families() for one in partitions(family.table)}
    yield
    for family in families():
        for one in partitions(family.table):
            if one.name not in usual:
                execute(f"DROP TABLE {one.name}")


@pytest.fixture
def patient() -> Iterator[None]:
    """Who makes or drops one waits for as long as somebody is in the way, so that others can run into it."""
    alter = (
        "ALTER FUNCTION punctual_drop_partition(regclass, text) SET lock_timeout = '{0}';"
        "ALTER FUNCTION punctual_make_partition(regclass, text, timestamptz, timestamptz) SET lock_timeout = '{0}'"
    )
    with connection.cursor() as cursor:
        cursor.execute(alter.format("20s"))
        yield
        cursor.execute(alter.format("100ms"))


def made(table: str, moment: datetime = FAR) -> Partition:
    make(table, [moment], DAY)
    return next(one for one in partitions(table) if one.covers(moment))


def names(table: str) -> list[str]:
    return [one.name for one in partitions(table)]


# Dropping


@READ
def test_who_drops_a_partition_that_is_read_gives_up_soon_and_succeeds_next_time(table):
    one = made(table)
    with psycopg.connect(connection.connection.info.dsn) as reader:
        reader.execute(f"SELECT count(*) FROM {one.name}")

        with pytest.raises(OperationalError, match="lock timeout"):
            drop(one)
    drop(one)

    assert one.name not in names(table)


@READ
def test_who_writes_does_not_wait_for_who_drops_a_partition_that_is_read(table, patient):
    one = made(table)

    dropped, written = contend(
        lambda: execute(f"SELECT count(*) FROM {one.name}"), lambda: drop(one), lambda: write(table, now())
    )

    assert (dropped.waited, dropped.error, written.waited, written.error) == (True, None, False, None)
    assert one.name not in names(table)
    assert sum(places(table.removesuffix("_default")).values()) == 1


@BOTH
def test_two_beats_drop_a_partition_once(commit, patient):
    one = made("punctual_past_default")

    first, second = overlap_results(lambda: drop(one), lambda: drop(one), commit=commit)

    assert (first.error, second.error, second.waited) == (None, None, True)
    assert one.name not in names("punctual_past_default")


# Making


@BOTH
@pytest.mark.parametrize("table", DIRECT)
def test_two_beats_make_a_partition_once(table, commit, patient):
    family = next(one for one in families() if one.table == table)

    def make_those_of_then() -> list[str]:
        return make(table, coming(FAR, family.span, AHEAD), family.span)

    first, second = overlap_results(make_those_of_then, make_those_of_then, commit=commit)

    assert (first.error, second.error, second.waited) == (None, None, True)
    assert len([one for one in partitions(table) if one.since > FAR - 31 * DAY]) == AHEAD + 1


def test_a_beat_that_is_killed_while_it_makes_one_leaves_nothing_behind():
    write("punctual_outbox", FAR)
    with psycopg.connect(connection.connection.info.dsn) as killed:
        killed.execute(
            "SELECT punctual_make_partition('punctual_outbox', 'punctual_outbox_x', %s, %s)", [FAR - DAY, FAR + DAY]
        )
        execute("SELECT pg_terminate_backend(%s)", [killed.info.backend_pid])
        with pytest.raises(psycopg.OperationalError):
            killed.commit()
        killed.close()

    assert execute("SELECT to_regclass('punctual_outbox_x')") == [(None,)]
    assert places("punctual_outbox") == {"default": 1}
    keep_partitions()
    assert places("punctual_outbox") == {"20310517": 1}


# The default partition


@BOTH
def test_who_writes_while_the_default_partition_is_emptied_waits_and_is_not_refused(commit):
    """The partition of now was missing. Without a lock, PostgreSQL refuses what is on its way into the default one."""
    moment = _without_partition_of_now()
    write("punctual_outbox", moment)

    emptied, written = overlap_results(
        lambda: empty_default("punctual_outbox", "created_at", DAY, 1),
        lambda: write("punctual_outbox", moment),
        commit=commit,
    )

    assert (emptied.error, written.error, written.waited) == (None, None, True)
    assert sum(places("punctual_outbox").values()) == 2
    assert set(places("punctual_outbox")) == {
        emptied.value[0].removeprefix("punctual_outbox_") if commit else "default"
    }


@BOTH
def test_who_empties_the_default_partition_waits_for_who_writes_to_it(commit, patient):
    moment = _without_partition_of_now()

    written, emptied = overlap_results(
        lambda: write("punctual_outbox", moment), lambda: make("punctual_outbox", [moment], DAY), commit=commit
    )

    assert (written.error, emptied.error, emptied.waited) == (None, None, True)
    assert sum(places("punctual_outbox").values()) == int(commit)
    assert "default" not in places("punctual_outbox")


def _without_partition_of_now() -> datetime:
    """Nobody has made partitions for days: what is written goes to the default one."""
    execute("ALTER TABLE punctual_outbox DETACH PARTITION punctual_outbox_before")
    return now()


@pytest.fixture(autouse=True)
def _put_back(_only_the_usual_ones) -> Iterator[None]:
    [before] = [one for one in partitions("punctual_outbox") if one.name == "punctual_outbox_before"]
    yield
    if "punctual_outbox_before" not in names("punctual_outbox"):
        for one in partitions("punctual_outbox"):
            if one.since < before.until:
                execute(f"DROP TABLE {one.name}")
        execute("TRUNCATE punctual_outbox")
        execute(
            "ALTER TABLE punctual_outbox ATTACH PARTITION punctual_outbox_before"
            f" FOR VALUES FROM (MINVALUE) TO ('{before.until}')"
        )


# Once


@BOTH
def test_one_operation_acts_on_a_subject_once_whoever_comes_second(commit):
    who = operator()

    def act() -> None:
        audit(Operator(who.name, who.reason, who.operation), "retry", [Entry("task 1", "replayed")])

    first, second = overlap_results(act, atomic()(act), commit=commit)

    assert first.error is None and second.waited
    assert (second.error is not None) == commit
    if commit:
        assert isinstance(second.error, InvalidTask) and "has acted on task 1 already" in str(second.error)
    assert AuditEntry.objects.filter(operation=who.operation).count() == 1


def test_a_subject_that_is_named_twice_is_refused():
    with pytest.raises(InvalidTask, match="has acted on task 1 already"):
        audit(operator(), "retry", [Entry("task 1", "replayed"), Entry("task 1", "replayed")])
