"""Finding tasks: every filter finds what it should through whichever table knows, page by page, in bounded time."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from django_punctual import InvalidTask, cancel, schedule, schedule_many
from tasks_app.engine.watch import browse as engine_browse
from tasks_app.engine.watch.browse import DUE, Bookmark, Filter, browse, tally, walk
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.operate import Verb, operate
from tasks_app.models import ScheduleTask
from tasks_app.sql import _text
from tests.support.engine import claim_due, run_due
from tests.support.jobs import by, instances, make
from tests.support.marks import commits
from tests.support.moves import MONDAY, TUESDAY, WEDNESDAY, dead, scheduled
from tests.support.operators import operator

pytestmark = commits


def found(after=None, size=50, **wanted) -> list[int]:
    return [task.id for task in browse(Filter(**wanted), after, size, seconds=60).tasks]


@pytest.fixture
def zoo():
    """One task in each state, by its name."""
    ids = {"DEAD": dead("dead")[0]}
    failing = schedule("T_QUIET", "fail", payload={"do": "retry", "after": 3600}).task_id
    done = schedule("T_PLAIN", "success", lane="low").task_id
    run_due()
    ids |= {"FAIL": failing, "SUCCESS": done}
    ids["RUNNING"] = schedule("T_QUIET", "running", lane="high").task_id
    claim_due(lanes=["high"])
    ids["CANCELLED"] = schedule("T_QUIET", "cancelled", at=MONDAY).task_id
    cancel("T_QUIET", "cancelled", by="me", reason="why not")
    ids["INIT"] = schedule("T_QUIET", "init", at=MONDAY).task_id
    return ids


@pytest.mark.parametrize("state", ["DEAD", "FAIL", "SUCCESS", "RUNNING", "CANCELLED", "INIT"])
def test_each_state_is_found(zoo, state):
    assert found(state=state) == [zoo[state]]


def test_without_a_filter_everything_comes_the_newest_first(zoo):
    assert found() == sorted(zoo.values(), reverse=True)


def test_type_and_lane_narrow_what_is_found(zoo):
    assert found(task_type="T_PLAIN") == [zoo["SUCCESS"]]
    assert found(lane="high") == [zoo["RUNNING"]]
    assert found(lane="high", state="DEAD") == []
    assert found(task_type="T_NOBODY_KNOWS") == []


def test_a_whole_key_or_its_beginning_is_found(zoo):
    scheduled("key", "key-1", "key-2", "key*", "kez", "Key", at=MONDAY)

    assert len(found(key="key")) == len(found(key="key*")) == 1
    assert len(found(key_prefix="key")) == 4
    assert len(found(key_prefix="key-")) == 2
    assert len(found(key_prefix="")) == 12
    assert found(key="nobody") == []
    assert found(key="dead", state="INIT") == []


@pytest.mark.parametrize("key", ["<script>alert(1)</script>", "100%", "a_b", "schlüssel 🔑", "it's"])
def test_any_key_can_be_searched_as_it_is(key):
    scheduled(key, "other", at=MONDAY)

    assert len(found(key=key)) == 1


def test_a_key_is_found_over_all_types_and_narrowed_to_a_tenant_and_to_the_types_one_may_see():
    quiet, plain = schedule("T_QUIET", "same", at=MONDAY).task_id, schedule("T_PLAIN", "same", at=MONDAY).task_id
    theirs = schedule("T_QUIET", "same", at=MONDAY, tenant="acme").task_id

    assert found(key="same") == [theirs, plain, quiet]
    assert found(key="same", tenant="default") == [plain, quiet]
    assert found(tenant="acme") == [theirs]
    assert found(key="same", types=["T_PLAIN"]) == found(types=["T_PLAIN"], tenant="default") == [plain]
    assert found(types=[]) == []


def test_the_tasks_of_a_unit_are_found_the_current_one_first():
    ids = []
    for _ in range(3):
        ids.insert(0, schedule("T_QUIET", "unit").task_id)
        run_due()
    schedule("T_QUIET", "unit", tenant="acme")
    schedule("T_PLAIN", "unit")
    unit = ("default", "T_QUIET", "unit")

    assert found(unit=unit) == ids
    assert found(unit=unit, tenant="acme") == []
    assert found(unit=("default", "T_QUIET", "nobody")) == []
    assert [[task.id for task in page.tasks] for page in walk(Filter(unit=unit), size=2)] == [ids[:2], ids[2:]]


def test_the_instances_of_a_job_are_found_the_latest_first():
    first, other = make("first"), make("other")
    for key in "abc":
        verbs.trigger(first.id, key, by())
        verbs.trigger(other.id, key, by())
    ids = [task.id for task in instances(first)][::-1]
    assert len(ids) > 3

    assert found(job=first.id) == ids
    assert found(job=first.id, tenant="acme") == []
    ScheduleTask.objects.filter(id__in=ids[:3]).update(fire_time=MONDAY)  # a place that several stand at
    assert sorted(task.id for page in walk(Filter(job=first.id), size=1) for task in page.tasks) == sorted(ids)


def test_due_now_is_what_may_be_claimed(zoo):
    overdue = schedule("T_QUIET", "overdue").task_id

    assert found(state=DUE) == [overdue]


def test_tasks_of_a_type_with_a_limit_are_found_in_order_among_the_others_whether_or_not_a_beat_has_declared_it():
    first = schedule("T_QUIET", "first", at=MONDAY).task_id
    limited = schedule("T_RATED", "limited", at=TUESDAY).task_id
    last = schedule("T_QUIET", "last", at=WEDNESDAY).task_id
    due = schedule("T_RATED", "due").task_id

    assert found(due_from=MONDAY) == [first, limited, last]
    assert found(state=DUE) == [due]
    assert found(state=DUE, lane="low") == []


def test_the_due_time_finds_scheduled_tasks_the_next_first():
    wednesday, monday, tuesday = (scheduled(str(at), at=at)[0] for at in (WEDNESDAY, MONDAY, TUESDAY))

    assert found(state="INIT") == [monday, tuesday, wednesday]
    assert found(due_from=TUESDAY) == [tuesday, wednesday]
    assert found(due_to=TUESDAY) == [monday]
    assert found(due_from=MONDAY, due_to=WEDNESDAY, lane="default") == [monday, tuesday]


def test_the_time_of_the_last_run_finds_what_ran(zoo):
    now = timezone.now()

    assert set(found(ran_from=now - timedelta(minutes=5))) == {zoo["DEAD"], zoo["FAIL"], zoo["SUCCESS"]}
    assert found(ran_from=now + timedelta(minutes=5)) == []
    assert zoo["SUCCESS"] in found(ran_to=now + timedelta(minutes=5))
    assert found(ran_to=now - timedelta(minutes=5)) == []


@pytest.mark.parametrize("wanted", [{}, {"state": "INIT"}, {"key_prefix": "k-"}, {"due_from": MONDAY}])
def test_pages_show_every_task_once(wanted):
    scheduled(*(f"k-{n:02}" for n in range(25)), at=MONDAY)  # all due at the same moment

    seen, after = [], None
    while True:
        page = browse(Filter(**wanted), after, size=4)
        seen += [task.id for task in page.tasks]
        after = page.next
        if after is None:
            break

    assert len(seen) == len(set(seen)) == 25


def test_whoever_leaves_a_list_by_time_takes_nobody_along():
    """All are due at the same moment. Going on by counting those of that moment would leave out a neighbour."""
    ids = scheduled(*(str(n) for n in range(10)), at=MONDAY)
    first = browse(Filter(state="INIT"), size=4)
    cancel("T_QUIET", "2", by="me", reason="why not")

    rest = browse(Filter(state="INIT"), first.next, size=50)

    assert [task.id for task in (*first.tasks, *rest.tasks)] == sorted(ids)


@pytest.mark.parametrize("state", ["DEAD", "FAIL", "SUCCESS"])
def test_pages_through_other_tables_show_every_task_once(state):
    does = {"DEAD": {"do": "die"}, "FAIL": {"do": "retry", "after": 3600}, "SUCCESS": {}}[state]
    schedule_many("T_QUIET", [{"key": n} for n in range(25)], payload=does)
    run_due()

    pages = list(walk(Filter(state=state), size=4))

    ids = [task.id for page in pages for task in page.tasks]
    assert len(ids) == len(set(ids)) == 25
    recently = walk_shown(Filter(ran_from=timezone.now() - timedelta(minutes=1)))
    assert sorted(recently) == sorted(ids)


def walk_shown(wanted: Filter) -> list[int]:
    ids, after = [], None
    while True:
        page = browse(wanted, after, size=4)
        ids += [task.id for task in page.tasks]
        if page.next is None:
            return ids
        after = page.next


def test_a_walk_that_acts_on_what_it_finds_misses_none():
    """The last one of each page leaves the list; going on by counting would then skip its neighbour."""
    ids = dead(*(str(n) for n in range(10)))
    by = operator()

    for page in walk(Filter(state="DEAD"), size=3):
        operate(Verb.RETRY, [task.id for task in page.tasks], by)

    assert found(state="DEAD") == []
    assert sorted(found(state=DUE)) == sorted(ids)


def test_a_look_gives_up_in_time_and_says_where_to_go_on(monkeypatch):
    monkeypatch.setattr(engine_browse, "FIRST_STEP", 10)
    scheduled(*(str(n) for n in range(100)), at=MONDAY)
    oldest = found(key="0")

    first = browse(Filter(task_type="T_NONE"), size=5, seconds=0)
    assert (first.tasks, first.looked_at) == ([], 10)
    assert first.next is not None

    rest = browse(Filter(state="INIT", newest=oldest[0]), size=5, seconds=60)
    assert [task.id for task in rest.tasks] == oldest


def test_a_replaced_row_is_found_by_walking_and_its_successor_by_the_key():
    schedule("T_QUIET", "unit")
    run_due()
    newer = schedule("T_QUIET", "unit", at=MONDAY).task_id

    assert found(key="unit") == [newer]
    assert len(found(task_type="T_QUIET")) == 2


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"state": "SLEEPING"}, "is unknown; there are"),
        ({"lane": "fast"}, "is unknown; there are"),
        ({"due_from": MONDAY, "due_to": MONDAY}, "must be later than due_from"),
        ({"ran_to": datetime(9999, 12, 31, 23, tzinfo=timezone.get_fixed_timezone(-720))}, "surely a mistake"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(wanted, words):
    with pytest.raises(InvalidTask, match=words):
        Filter(**wanted)


@pytest.mark.parametrize("bookmark", [Bookmark("17"), Bookmark("2090-01-02 09:00:00+00/3"), Bookmark("a:b")])
def test_a_bookmark_is_read_as_it_was_written(bookmark):
    assert Bookmark.read(str(bookmark)) == bookmark


@pytest.mark.parametrize(
    "text", ["", "x", ":", "1:", ":7", "-1", "0", "１", "1.5", "²", "²:x", "0:a\0", "3:7", f"0:{'x' * 2001}"]
)
def test_what_is_no_bookmark_is_refused(text):
    with pytest.raises(InvalidTask, match="start from the beginning"):
        Bookmark.read(text)


@pytest.mark.parametrize(
    ("wanted", "at"),
    [
        ({}, "0:x"),
        ({}, f"{2**63}"),
        ({"key_prefix": "k"}, "0:"),
        ({"due_from": MONDAY}, f"0:{MONDAY.isoformat()}"),
        ({"job": 1}, "17"),
    ],
)
def test_a_place_of_another_list_is_refused(wanted, at):
    with pytest.raises(InvalidTask, match="start from the beginning"):
        browse(Filter(**wanted), Bookmark.read(at))


@pytest.mark.parametrize(("wanted", "at"), [({}, "0:٣"), ({}, "0:1_000"), ({"due_from": MONDAY}, "0:2090-W01-1T00Z/7")])
def test_a_place_may_be_written_as_python_reads_it(wanted, at):
    assert browse(Filter(**wanted), Bookmark.read(at)).tasks == []


@pytest.mark.parametrize("wanted", [{}, {"state": "DEAD"}, {"lane": "high"}, {"key_prefix": ""}, {"key": "dead"}])
def test_a_tally_counts_what_a_walk_finds(zoo, wanted):
    walked = [task for page in walk(Filter(**wanted)) for task in page.tasks]

    found, complete = tally(Filter(**wanted), seconds=5)

    assert complete
    assert {alike: one.count for alike, one in found.items()} == Counter((*task[1:4], *task[5:7]) for task in walked)
    for alike, one in found.items():
        planned = [task.planned for task in walked if (*task[1:4], *task[5:7]) == alike]
        assert (one.first, one.last) == (min(planned), max(planned))


@pytest.mark.parametrize("wanted", [{}, {"key_prefix": ""}])
def test_a_tally_gives_up_in_time_and_says_so(wanted, monkeypatch):
    scheduled(*(f"k-{n}" for n in range(25)), at=MONDAY)
    for name in ("_BY_ID", "_BY_KEY_PREFIX"):
        monkeypatch.setattr(engine_browse, name, replace(getattr(engine_browse, name), longest=10))
    monkeypatch.setattr(engine_browse, "walk", lambda wanted, size: walk(wanted, 10))

    counts, complete = tally(Filter(**wanted), seconds=0)

    assert (sum(one.count for one in counts.values()), complete) == (10, False)


@pytest.mark.parametrize("wanted", [{}, {"key_prefix": "k-"}], ids=["browse_ids", "browse"])
def test_a_large_page_is_not_quadratic(wanted):
    """The end of a page was once looked for anew for each of its rows; a count of a million tasks then took minutes."""
    scheduled(*(f"k-{n}" for n in range(2_000)), at=MONDAY)
    source, given = engine_browse._source(Filter(**wanted), True), engine_browse._given(Filter(**wanted))
    given |= {"at": None, "size": 2_000, "most": 2_000, "live_below": 2**63 - 1}
    statement = _text(source.statement).replace("--rows", source.limited(2_000))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE punctual_task")
        cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + statement, given)
        plan = cursor.fetchone()[0][0]["Plan"]

    assert rows_touched(plan) < 30 * 2_000


def rows_touched(plan: dict) -> float:
    removed = plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Join Filter", 0)
    own = (plan["Actual Rows"] + removed) * plan["Actual Loops"]
    return own + sum(rows_touched(child) for child in plan.get("Plans", ()))


def test_a_page_reads_a_bounded_number_of_rows_by_a_plan_for_any_parameters():
    """Whatever is asked for, no plan may read the whole table for one page; nor the one that PostgreSQL keeps."""
    scheduled(*(f"k-{n}" for n in range(5_000)), at=MONDAY)
    anything = ({}, {"state": "INIT"}, {"state": "DEAD"}, {"state": DUE}, {"key_prefix": "k-77"}, {"due_from": MONDAY})
    one = ({"key": "k-77"}, {"unit": ("default", "T_QUIET", "k-77")}, {"job": 77})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE punctual_task")
        cursor.execute("SET plan_cache_mode = force_generic_plan")
        try:
            for wanted in (*anything, *one):
                scanned, through_index = rows_read(cursor)
                browse(Filter(tenant="default", **wanted), size=50)
                scanned_then, through_index_then = rows_read(cursor)
                assert scanned_then == scanned, wanted
                assert wanted not in one or through_index_then - through_index < 10, wanted
        finally:
            cursor.execute("RESET plan_cache_mode")


def rows_read(cursor) -> tuple[int, int]:
    """Of the tasks' table: by reading all of it, and through its indexes."""
    cursor.execute("SELECT pg_stat_force_next_flush()")
    cursor.execute(
        "SELECT (SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables WHERE relname = 'punctual_task'),"
        " (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'punctual_task')"
    )
    return cursor.fetchone()
