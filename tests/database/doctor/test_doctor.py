"""The doctor names the rows that break a rule, tells nothing that only looked wrong, and mends what it can."""

import json
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from django_punctual import reschedule
from tasks_app.engine.doctor.checks import CHECKS, NAMES, check_named
from tasks_app.engine.doctor.examine import examine
from tasks_app.engine.doctor.told import EVENTS
from tasks_app.engine.doctor.treat import treat
from tasks_app.engine.doctor.whole import broken_rules
from tasks_app.lifecycle.past import move_batches
from tasks_app.models import AnyTask, AuditEntry, DlqEntry, ScheduleTask, Turn
from tasks_app.sql import columns_of, execute
from tasks_app.storage.sieves import make_sieve, sieveless
from tests.support.engine import row
from tests.support.events import told
from tests.support.graphs import begun, family, tasks, waits
from tests.support.moves import TUESDAY, TYPE, WEDNESDAY, away, dead, ids_of, rows_of, scheduled, settled, started
from tests.support.operators import operator
from tests.support.turns import comes, ids, one_at_a_time, runs, statuses, turns

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """The command looks again without a pause."""
    monkeypatch.setattr("tasks_app.engine.doctor.examine.MOMENT", 0.0)


def write(statement: str, *values: object) -> None:
    """Past the scheduler, as a person in psql would."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)


def no_wait(seconds: float) -> None:
    """What looked wrong is looked at again at once."""


def found(*names: str, past: bool = True) -> dict[str, set[int]]:
    checks = [check_named(name) for name in names] or CHECKS
    seen = examine(checks, past=past, wait=no_wait)
    return {one.check.name: set(one.ids) for one in seen if one.count}


def done(key: str) -> int:
    batch = started(key)
    settled(batch)
    return ids_of(batch)[0]


def over(key: str) -> int:
    """In the past."""
    task = done(key)
    write("UPDATE punctual_task SET updated_at = now() - interval '1 day' WHERE id = %s", task)
    write("UPDATE punctual_batch SET finished_at = now() - interval '1 day' WHERE %s = ANY (ids)", task)
    assert move_batches().tasks == 1
    return task


def state_of(task: int) -> tuple[str, bool, bool]:
    one = row(task)
    return one.status, one.due_at is not None, one.current


# How each rule is broken: the rows that its check names, and what a repair makes of them.


class Case(NamedTuple):
    check: str
    broken: list[int]
    mended: Callable[[], object]
    expected: object
    others: tuple[str, ...] = ()  # rules that are broken by the same


def no_current_row() -> Case:
    task = done("a")
    write("UPDATE punctual_task SET current = FALSE WHERE id = %s", task)
    return Case("current", [task], lambda: state_of(task), ("SUCCESS", False, True))


def two_current_rows() -> Case:
    older, newer = scheduled("a", "b")
    write("DROP INDEX punctual_task_unit")
    write("UPDATE punctual_task SET biz_key = 'a' WHERE id = %s", newer)
    after = ("CANCELLED", False, False), ("INIT", True, True)
    return Case("current", [older, newer], lambda: (state_of(older), state_of(newer)), after)


def live_though_superseded() -> Case:
    older, newer = scheduled("a", "b")
    write("ALTER TABLE punctual_task DROP CONSTRAINT punctual_task_live_is_current")
    write("UPDATE punctual_task SET current = FALSE WHERE id = %s", older)
    write("UPDATE punctual_task SET biz_key = 'a' WHERE id = %s", newer)
    said = lambda: [one.type for one in told() if one.task == older]  # noqa: E731
    return Case("live", [older], lambda: (state_of(older), said()[-1]), (("CANCELLED", False, False), "task.cancelled"))


def running_in_a_finished_batch() -> Case:
    batch = started("a", "b")
    write("UPDATE punctual_batch SET finished_at = now()")
    return Case("running", ids_of(batch), lambda: {state_of(one) for one in ids_of(batch)}, {("INIT", True, True)})


def running_in_a_batch_that_does_not_list_it() -> Case:
    first, second = ids_of(started("a", "b"))
    write("UPDATE punctual_batch SET ids = ARRAY[%s::bigint]", first)
    return Case("running", [second], lambda: (state_of(first)[0], state_of(second)[0]), ("RUNNING", "INIT"))


def away_and_nobody_has_it() -> Case:
    [task] = ids_of(away("a"))
    write("DELETE FROM punctual_away")
    return Case("away", [task], lambda: state_of(task), ("INIT", True, True))


def away_in_another_run() -> Case:
    [task] = ids_of(away("a"))
    write("UPDATE punctual_away SET run = gen_random_uuid()")
    return Case("away", [task], lambda: state_of(task), ("INIT", True, True))


def a_lease_of_what_is_not_away() -> Case:
    [task] = ids_of(away("a"))
    write("UPDATE punctual_task SET status = 'SUCCESS' WHERE id = %s", task)
    return Case("away", [task], lambda: state_of(task), ("SUCCESS", False, True))


def never_due() -> Case:
    [task] = scheduled("a")
    write("UPDATE punctual_task SET due_at = NULL WHERE id = %s", task)
    return Case("due", [task], lambda: state_of(task), ("INIT", True, True))


def at_an_entry_where_nobody_looks() -> Case:
    [task] = scheduled("a", at=TUESDAY)
    passed = f'{{"default": "{WEDNESDAY.isoformat()}"}}'
    write(
        "INSERT INTO punctual_timetable (shard, passed, mark_xid)"
        " SELECT shard, %s::jsonb, 1 FROM punctual_task WHERE id = %s",
        passed,
        task,
    )
    write("UPDATE punctual_task SET wait_at = due_at WHERE id <> %s", task)
    return Case("timetable", [task], lambda: row(task).wait_at == row(task).due_at, True)


def due_though_it_is_over() -> Case:
    task = done("a")
    write("ALTER TABLE punctual_task DROP CONSTRAINT punctual_task_due_is_claimable")
    write("UPDATE punctual_task SET due_at = now() WHERE id = %s", task)
    return Case("over", [task], lambda: state_of(task), ("SUCCESS", False, True))


def open_letters() -> list[int]:
    return sorted(DlqEntry.objects.filter(replay_status="OPEN").values_list("task_id", flat=True))


def dead_without_a_letter() -> Case:
    [task] = dead("a")
    write("UPDATE punctual_dead_letter SET replay_status = 'CLOSED'")
    return Case("letters", [task], open_letters, [task])


def a_letter_of_what_is_not_dead() -> Case:
    [task] = dead("a")
    write("UPDATE punctual_task SET status = 'CANCELLED' WHERE id = %s", task)
    return Case("letters", [task], open_letters, [])


def a_letter_of_what_is_gone() -> Case:
    [task] = dead("a")
    write("DELETE FROM punctual_task WHERE id = %s", task)
    return Case("letters", [task], open_letters, [])


def a_failure_without_an_attempt() -> Case:
    [task] = dead("a")
    write("DELETE FROM punctual_attempt")
    return Case("attempts", [task], lambda: (row(task).retry_count, row(task).attempt), (0, 0))


def more_tries_than_there_were() -> Case:
    [task] = dead("a")
    write("UPDATE punctual_task SET attempt = 2 WHERE id = %s", task)
    return Case("budget", [task], lambda: row(task).attempt, 1)


def deferred_by_one_who_does_not_know() -> Case:
    parent, [effect] = done("a"), scheduled("b")
    write("UPDATE punctual_task SET deferred_from = %s, token = %s WHERE id = %s", parent, row(parent).token, effect)
    return Case("deferred", [effect], lambda: row(parent).deferred, [effect])


def blocked_without_a_turn() -> Case:
    job = one_at_a_time("skip")
    first = ids(job)[0]
    write("DELETE FROM punctual_turn WHERE task = %s", first)
    return Case("blocked", [first], lambda: (state_of(first), turns(job)[first]), (("BLOCKED", False, True), Turn.NEW))


def blocked_with_the_turn_taken() -> Case:
    job = one_at_a_time("skip")
    first = ids(job)[0]
    write("UPDATE punctual_turn SET state = %s WHERE task = %s", Turn.TAKEN, first)
    return Case("blocked", [first], lambda: (state_of(first), turns(job)[first]), (("BLOCKED", False, True), Turn.NEW))


def blocked_by_nothing() -> Case:
    job = one_at_a_time("skip")
    first = ids(job)[0]
    write("UPDATE punctual_job SET overlap = 'allow'")
    write("DELETE FROM punctual_turn WHERE task = %s", first)
    return Case("blocked", [first], lambda: state_of(first), ("INIT", True, True))


def blocked_by_a_row_that_is_gone() -> Case:
    family(a=["root"])
    begun()
    old, new = tasks()["root"].id, 9_000_000_000
    write("UPDATE punctual_task SET id = %s WHERE id = %s", new, old)
    child = tasks()["a"].id
    return Case("waits", [child], waits, {(child, new)})


def two_turns() -> Case:
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    comes(first)
    write("UPDATE punctual_task SET status = 'INIT', due_at = now() WHERE id = %s", second)
    write("UPDATE punctual_turn SET state = %s WHERE task = %s", Turn.TAKEN, second)
    after = ("BLOCKED", Turn.TAKEN, Turn.QUEUED)
    return Case("turns", [second], lambda: (state_of(second)[0], turns(job)[first], turns(job)[second]), after)


def current_though_taken_over() -> Case:
    started("a")
    reschedule(TYPE, "a", at=TUESDAY)
    old, new = rows_of("a")
    write("DROP INDEX punctual_task_unit")
    write("UPDATE punctual_task SET current = TRUE WHERE id = %s", old.id)
    return Case("replaced", [new.id], lambda: state_of(old.id), ("CANCELLED", False, False), others=("current",))


def in_two_places() -> Case:
    task = over("a")
    columns = ", ".join(columns_of("columns"))
    write(f"INSERT INTO punctual_task ({columns}) SELECT {columns} FROM punctual_past")
    return Case("place", [task], lambda: state_of(task), ("SUCCESS", False, True))


def live_in_the_past() -> Case:
    task = over("a")
    write("UPDATE punctual_past SET status = 'INIT', due_at = now()")
    return Case("past", [task], lambda: state_of(task), ("INIT", True, True))


def not_in_its_sieve() -> Case:
    task = over("a")
    [(name,)] = execute("SELECT tableoid::regclass::text FROM punctual_past")
    assert make_sieve(next(one for one in sieveless(-10 * 86_400) if one.name == name))
    assert found() == {}
    write("UPDATE punctual_sieve_part SET prints = '{}'")
    return Case("sieve", [task], lambda: execute("SELECT ready FROM punctual_sieve"), [(False,)])


BREAKS = (
    no_current_row,
    two_current_rows,
    live_though_superseded,
    running_in_a_finished_batch,
    running_in_a_batch_that_does_not_list_it,
    away_and_nobody_has_it,
    away_in_another_run,
    a_lease_of_what_is_not_away,
    never_due,
    at_an_entry_where_nobody_looks,
    due_though_it_is_over,
    dead_without_a_letter,
    a_letter_of_what_is_not_dead,
    a_letter_of_what_is_gone,
    a_failure_without_an_attempt,
    more_tries_than_there_were,
    deferred_by_one_who_does_not_know,
    blocked_without_a_turn,
    blocked_with_the_turn_taken,
    blocked_by_nothing,
    blocked_by_a_row_that_is_gone,
    two_turns,
    current_though_taken_over,
    in_two_places,
    live_in_the_past,
    not_in_its_sieve,
)


@pytest.mark.parametrize("break_it", BREAKS, ids=lambda one: one.__name__)
def test_who_breaks_a_rule_is_named_and_mended(break_it):
    scheduled("sound", at=TUESDAY)
    case = break_it()

    assert {name: sorted(rows) for name, rows in found().items() if name not in case.others} == {
        case.check: sorted(case.broken)
    }

    [finding] = examine([check_named(case.check)], past=True, wait=no_wait)
    foreseen = treat(finding, operator(), dry_run=True)
    assert found(case.check) == {case.check: set(case.broken)}  # nothing was changed
    assert not AuditEntry.objects.filter(verb="repair").exists()

    assert treat(finding, operator(), dry_run=False) == foreseen
    assert foreseen.mended and not foreseen.left
    assert case.mended() == case.expected
    assert found() == {}
    assert {entry.detail["check"] for entry in AuditEntry.objects.filter(verb="repair")} == {case.check}


def test_each_rule_is_broken_once():
    mended = {
        "current",
        "live",
        "running",
        "away",
        "due",
        "timetable",
        "over",
        "letters",
        "attempts",
        "budget",
        "deferred",
    }
    mended |= {"blocked", "waits", "turns", "replaced", "place", "past", "sieve"}
    assert {one.name for one in CHECKS if one.mend} == mended
    assert set(NAMES) - mended == {"replaced-once", "payload"}


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE punctual_task SET payload_bytes = NULL WHERE id = %s",
        "UPDATE punctual_task SET payload = '{}' WHERE id = %s",
    ],
)
def test_a_payload_without_its_bytes_and_bytes_without_their_key_are_named(harm):
    [task] = scheduled("a", at=TUESDAY)
    write("""UPDATE punctual_task SET payload = '{"$punctual": "1:7:"}', payload_bytes = 'x' WHERE id = %s""", task)
    assert found("payload", past=False) == {}

    write(harm, task)

    assert found("payload", past=False) == {"payload": {task}}


def test_a_row_that_two_took_over_from_is_named_though_nothing_mends_it():
    started("a")
    reschedule(TYPE, "a", at=TUESDAY)
    [old, _] = rows_of("a")
    [other] = scheduled("b")
    write("UPDATE punctual_task SET replaces = %s WHERE id = %s", old.id, other)

    assert found("replaced-once", past=False) == {"replaced-once": {other}}
    with pytest.raises(CommandError, match="there is no repair for 'replaced-once'"):
        doctor("--repair", "replaced-once")


def test_what_cannot_be_mended_is_left_and_said():
    parent, [effect] = done("a"), scheduled("b")
    write("UPDATE punctual_task SET deferred_from = %s WHERE id = %s", parent, effect)  # under another token

    text, code = doctor("--repair", "deferred", "--apply")

    assert f"1 row can't be mended so: {effect}" in text
    assert code == 1


def test_what_gets_its_place_in_line_back_waits_for_the_instance_that_runs():
    first, second, third = ids(one_at_a_time("queue_all"))
    batch = runs(first)
    write("DELETE FROM punctual_turn WHERE task = ANY (%s)", [second, third])
    write("UPDATE punctual_task SET execute_time = now() WHERE id = ANY (%s)", [second, third])
    [finding] = examine([check_named("blocked")], wait=no_wait)

    assert treat(finding, operator(), dry_run=False).mended == [second, third]

    comes(second, third)
    assert statuses(first, second, third) == ["RUNNING", "BLOCKED", "BLOCKED"]
    settled(batch)
    comes()
    assert statuses(first, second, third) == ["SUCCESS", "INIT", "BLOCKED"]


def left_by_the_repair_of_the_past(task: int) -> bool:
    [finding] = examine([check_named("past")], past=True, wait=no_wait)
    text, code = doctor("--repair", "past", "--apply")
    assert (finding.ids, code) == ([task], 1)
    return f"1 row can't be mended so: {task}" in text and not ScheduleTask.objects.filter(id=task).exists()


def test_an_older_copy_of_what_succeeded_is_not_taken_back_to_run_again():
    task = over("a")
    same = [one for one in columns_of("columns") if one not in ("status", "due_at", "updated_at")]
    named = ", ".join([*same, "retention"])
    write(
        f"INSERT INTO punctual_past ({named}, status, due_at, updated_at)"
        f" SELECT {named}, 'INIT', now(), updated_at - interval '1 ms' FROM punctual_past"
    )

    assert left_by_the_repair_of_the_past(task)
    assert doctor("--repair", "place", "--apply")[1] == 0  # the newer copy stays
    assert found() == {}
    assert AnyTask.objects.get(id=task).status == "SUCCESS"


def test_a_row_of_the_past_is_not_taken_back_beside_a_newer_one_of_its_unit():
    older, newer = over("a"), over("b")
    write("UPDATE punctual_past SET biz_key = 'a' WHERE id = %s", newer)
    write("UPDATE punctual_past SET status = 'INIT', due_at = now() WHERE id = %s", older)

    assert left_by_the_repair_of_the_past(older)


def test_it_walks_over_all_there_is_a_stretch_at_a_time():
    tasks = scheduled(*"abcdefg")
    write("UPDATE punctual_task SET due_at = NULL WHERE id = ANY (%s)", [tasks[0], tasks[3], tasks[6]])

    [seen] = examine([check_named("due")], wait=no_wait, step=2)

    assert (seen.ids, seen.count) == ([tasks[0], tasks[3], tasks[6]], 3)


def test_what_is_well_again_a_moment_later_is_not_told():
    """A cancel of what is away is two statements, and whoever looks in between sees a lease of what is not away."""
    ids_of(away("a"))
    write("UPDATE punctual_task SET status = 'CANCELLED'")

    seen = examine(wait=lambda seconds: write("DELETE FROM punctual_away"))

    assert [one.check.name for one in seen if one.count] == []


def test_the_past_is_looked_at_only_if_that_is_asked_for():
    live_in_the_past()

    assert found(past=False) == {}
    assert doctor() == ("17 rules checked in what is live", 0)
    assert doctor("past")[1] == 1  # who names the check has asked


def doctor(*words: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("doctor", *words, stdout=out)
    except SystemExit as end:
        return out.getvalue(), end.code
    text = out.getvalue()
    return text.partition(",")[0] if text.startswith("17 ") else text, 0


def test_the_page_names_the_rows_and_the_way_out():
    [task] = scheduled("a")
    assert doctor("--json", "due")[1] == 0
    write("UPDATE punctual_task SET due_at = NULL")

    text, code = doctor()

    assert f"! due: what is to be tried has a due moment. Not so for 1 row:\n    {task} (INIT)" in text
    assert "`doctor --repair due` shows what a repair changes." in text
    assert code == 1
    told = json.loads(doctor("--json")[0])
    assert [(one["name"], one["rows"]) for one in told["checks"] if one["broken"]] == [
        ("due", [{"id": task, "detail": "INIT"}])
    ]

    assert "1 row would be mended" in doctor("--repair", "due")[0]
    assert ScheduleTask.objects.get().due_at is None
    assert doctor("--repair", "due", "--apply", "--by", "ana", "--reason", "psql")[1] == 0
    assert [(e.actor, e.verb, e.outcome, e.task_id) for e in AuditEntry.objects.all()] == [
        ("ana", "repair", "mended", task)
    ]
    assert doctor("--repair", "due")[0] == "Nothing breaks 'due': what is to be tried has a due moment.\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["runing"], "there is no check 'runing'; there are current, .* Did you mean 'running'?"),
        (["--apply"], "--apply: of which check"),
        (["--repair", "due", "over"], "--repair names its check"),
    ],
)
def test_what_makes_no_sense_is_refused(words: Iterable[str], says: str):
    with pytest.raises(CommandError, match=says) as refused:
        doctor(*words)
    assert refused.value.returncode == 2


def test_all_rules_at_once_are_planned_once():
    assert broken_rules() == broken_rules() == []
    assert execute("SELECT name FROM pg_prepared_statements WHERE starts_with(statement, %s)", [EVENTS])


def test_the_list_and_the_page_say_what_each_repair_does():
    text, _ = doctor("--list")
    page = (Path(__file__).resolve().parents[3] / "docs" / "recovery.md").read_text()
    assert [f"| `{one.name}` | {one.rule} | {one.remedy} |\n" in page for one in CHECKS] == [True] * len(CHECKS)
    assert all(f"{one.name:14} {one.rule}\n" in text and one.remedy in text for one in CHECKS)
