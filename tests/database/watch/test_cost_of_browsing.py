"""Searching beside a long past: a page opens only the partitions that can hold a match, and reads little of them."""

import re
from datetime import timedelta
from typing import NamedTuple

import pytest
from django.db import connection
from psycopg.sql import Literal

from django_punctual import schedule
from tasks_app.engine.watch.browse import Filter, _given, _live_below, _source, browse, tally
from tasks_app.sql import _text
from tests.support.past import drop_past, fill_past, noon
from tests.support.tables import empty_tables

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_past")]

ROWS, DAYS = 100_000, 10
HOUR = timedelta(hours=1)
EVERYWHERE = DAYS + 3  # partitions, with those that were made ahead


class Cost(NamedTuple):
    partitions: set[str]
    buffers: int


@pytest.fixture(scope="module")
def _past(django_db_setup, django_db_blocker):
    """ROWS tasks that are over, as many on each of DAYS days; written once for all tests here."""
    with django_db_blocker.unblock():
        fill_past(ROWS, DAYS)
    yield
    with django_db_blocker.unblock():
        drop_past()
        empty_tables()


def cost(wanted: Filter, *, steady: bool = False, step: int = 200) -> Cost:
    """Of the first statement of a page, by the plan that PostgreSQL keeps for any parameters."""
    source = _source(wanted, steady)
    given = _given(wanted) | _live_below(wanted, source) | {"at": None, "size": 50, "most": step}
    plan = _explained(_text(source.statement).replace("--rows", source.limited(step)), given)
    read = {node["Relation Name"] for node in _nodes(plan) if "Relation Name" in node and node["Actual Loops"]}
    partitions = {name.removeprefix("punctual_past_") for name in read if name.startswith("punctual_past_default")}
    return Cost(partitions, plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def _explained(statement: str, given: dict) -> dict:
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    text = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", statement).replace("%%", "%")
    values = ", ".join(Literal(given[name]).as_string() for name in names)
    with connection.cursor() as cursor:
        cursor.execute("SET plan_cache_mode = force_generic_plan")
        cursor.execute(f"PREPARE looked AS {text}")
        try:
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE looked({values})")
            return cursor.fetchone()[0][0]["Plan"]
        finally:
            cursor.execute("DEALLOCATE looked")
            cursor.execute("RESET plan_cache_mode")


def _nodes(plan: dict):
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


def partition(days_ago: int) -> str:
    return f"default_{noon(days_ago):%Y%m%d}"


def ids(**wanted) -> list[int]:
    return [task.id for task in browse(Filter(**wanted), size=50, seconds=60).tasks]


def test_a_page_reads_a_few_pages_of_the_partitions_that_it_needs():
    anywhere = {"tenant": "t1"}, {"task_type": "T_NONE"}, {"state": "SUCCESS"}, {"lane": "low"}
    for wanted in anywhere:
        assert cost(Filter(**wanted), steady=True).buffers < 20 * EVERYWHERE, wanted
    one = {"key": "k-78"}, {"unit": ("t2", "T_3", "k-78")}
    for wanted in one:
        assert cost(Filter(**wanted)).buffers < 20 * EVERYWHERE, wanted
    candidates = {"key_prefix": "k-77"}, {"job": 7}, {"job": 1}, {"unit": ("t0", "T_QUIET", "often")}
    for wanted in candidates:
        assert cost(Filter(**wanted)).buffers < 20 * EVERYWHERE + 10 * 200, wanted


def test_a_time_of_change_opens_the_partitions_of_that_time_only():
    changed = {"changed_from": noon(5) + HOUR, "changed_to": noon(5) + 2 * HOUR}
    every = [{}, {"state": "CANCELLED"}, {"tenant": "t1"}, {"key": "often"}, {"job": 1}, {"key_prefix": "k-5"}]

    for more in every:
        assert cost(Filter(**changed, **more)).partitions == {partition(5)}, more
    assert cost(Filter(**changed), steady=True).buffers < 100
    found = ids(**changed, state="CANCELLED")
    assert len(found) == 50
    assert all(50_900 <= one < 51_900 and one % 10 == 7 for one in found)


def test_a_time_of_a_run_asks_the_partition_of_its_batches():
    ran = {"ran_from": noon(5) + HOUR, "ran_to": noon(5) + 2 * HOUR}

    listed, succeeded = cost(Filter(**ran)), cost(Filter(**ran, state="SUCCESS"), steady=True)

    assert listed.partitions == succeeded.partitions == {partition(5)}
    assert max(listed.buffers, succeeded.buffers) < 10 * 200
    walked = cost(Filter(**ran), steady=True)
    assert partition(6) not in walked.partitions
    assert walked.buffers < 20 * EVERYWHERE
    assert set(ids(**ran)) < set(range(50_900, 51_900))


def test_live_tasks_that_are_too_young_are_not_walked_over():
    for key in range(300):
        schedule("T_QUIET", key)
    changed = Filter(changed_from=noon(5), changed_to=noon(5) + 11 * HOUR)

    assert browse(changed, size=50, steady=True, seconds=60).looked_at == 50
    found, complete = tally(Filter(changed_from=noon(5), changed_to=noon(5) + 11 * HOUR, state="CANCELLED"), 60)
    assert ({alike[:3]: one.count for alike, one in found.items()}, complete) == (
        {("CANCELLED", False, True): ROWS // DAYS // 10},
        True,
    )


@pytest.mark.parametrize("wanted", [{"state": "INIT"}, {"state": "RUNNING"}, {"due_from": noon(3)}, {"state": "FAIL"}])
def test_what_only_live_tasks_can_be_opens_no_partition(wanted):
    for steady in (True, False):
        assert cost(Filter(**wanted), steady=steady).partitions == set()
