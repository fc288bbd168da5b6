"""After a long downtime: much that is overdue is held until somebody decides, and then dealt with as they chose."""

from datetime import timedelta
from uuid import UUID

import pytest

from django_punctual import reschedule
from tasks_app.core.errors import InvalidTask
from tasks_app.core.overdue import Answer, Choice
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.beat.overdue import carry_out
from tasks_app.engine.operations import quarantine as orders
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle.claim import claim_chosen, peek
from tasks_app.lifecycle.installation import look, quarantine
from tasks_app.lifecycle.overdue import step
from tasks_app.lifecycle.start import start
from tasks_app.metrics.reading import read as scrape
from tasks_app.models import AuditEntry, ScheduleTask
from tasks_app.sql import execute
from tests.support.engine import anybodys, claim_due, row, run_due
from tests.support.moves import TUESDAY, TYPE, scheduled, state
from tests.support.operators import operator
from tests.support.quarantine import installation, noted, overdue

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _asks_soon(settings) -> None:
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKLOG_ASK": 2}


def back_after(seconds: float = 7_200.0) -> None:
    """A beat looks for the first time after so long."""
    noted(silent=seconds)
    BARRIER.look(dispatching=True)


def answer(choice: str, *lanes: str, **options: object) -> None:
    orders.resume(Answer.checked(choice, lanes, **options), operator())


def statuses(*tasks: int) -> list[str]:
    return [state(task).status for task in tasks]


def test_after_a_long_silence_what_is_overdue_waits_and_the_rest_goes_on():
    held = overdue("a", "b", "c")
    limited = overdue("limited", task_type="T_RATED")
    urgent = overdue("urgent", lane="critical")
    back_after()
    new = scheduled("new")

    shown = peek("beat", anybodys(), limited_types=["T_RATED"])
    assert {lane.lane: lane.next_due is not None for lane in shown.lanes if lane.lane in ("critical", "low")} == {
        "critical": True,
        "low": False,
    }
    assert shown.limited == {}
    assert claim_chosen(held, "default", 5, {}, "test", anybodys()) == []
    run_due()

    assert statuses(*held, *limited) == ["INIT"] * 4
    assert statuses(*urgent, *new) == ["SUCCESS"] * 2
    assert [one.rule for one in read_status().found if one.rule == "overdue_held"]
    assert why_task(row(held[0])).rule == "held_overdue"
    assert scrape().values["overdue_held"] == {(): 1.0}
    assert list(AuditEntry.objects.values_list("verb", "outcome")) == [("hold", "asked")]


@pytest.mark.parametrize(
    ("silent", "tasks", "setting"),
    [
        (30.0, 5, 2),  # nobody was away for long
        (7_200.0, 2, 2),  # not so many
        (7_200.0, 5, 0),  # never
    ],
)
def test_otherwise_nobody_is_asked(settings, silent, tasks, setting):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKLOG_ASK": setting}
    held = overdue(*map(str, range(tasks)))
    back_after(silent)

    run_due()

    assert set(statuses(*held)) == {"SUCCESS"}
    assert installation().held_before is None


def test_what_became_due_only_now_is_not_counted():
    overdue("a", "b", "c", hours=0.05)
    back_after()

    assert installation().held_before is None


def test_run_lets_all_of_it_go():
    held = overdue("a", "b", "c")
    back_after()

    answer("run")
    run_due()

    assert set(statuses(*held)) == {"SUCCESS"}
    assert (installation().held_before, installation().held_lanes, installation().answer) == (None, [], None)


def test_one_lane_is_let_go_and_the_others_are_still_asked_about():
    low, high = overdue("a", "b", "c", lane="low"), overdue("d", lane="high")
    back_after()

    answer("run", "high")
    run_due()

    assert (set(statuses(*low)), statuses(*high)) == ({"INIT"}, ["SUCCESS"])
    assert "high" not in installation().held_lanes and "low" in installation().held_lanes
    with pytest.raises(InvalidTask, match="nothing is held in critical"):
        answer("run", "critical")


def test_expire_cancels_what_is_too_old_and_runs_the_rest():
    old, young = overdue("a", "b", "c", hours=2), overdue("d", hours=0.5)
    limited = overdue("limited", task_type="T_RATED", hours=2)
    back_after()
    seen = orders.preview(3_600.0)
    assert seen.foreseen(Choice.EXPIRE) == "4 tasks are cancelled, and 1 run."

    answer("expire", older_seconds=3_600.0)
    assert claim_due() == []  # nothing runs before it has been looked at
    assert carry_out() == "4 tasks"
    run_due()

    assert (set(statuses(*old, *limited)), statuses(*young)) == ({"CANCELLED"}, ["SUCCESS"])
    assert AuditEntry.objects.filter(verb="cancel", actor="olga", task_id__in=old).count() == 3


def test_what_was_claimed_and_not_started_before_a_quarantine_is_overdue_like_the_rest():
    old = overdue("a", "b", hours=2)
    look()
    [batch] = claim_due()
    orders.enter(operator())

    answer("expire", older_seconds=3_600.0)
    carry_out()

    assert start(UUID(batch.batch_no), "worker") is None
    assert set(statuses(*old)) == {"CANCELLED"}


def test_shift_moves_it_by_the_gap_in_the_same_order_and_with_what_is_counted_from_it():
    tasks = overdue("a", "b", "c")
    before = {task: row(task) for task in tasks}
    back_after(3 * 3_600.0)
    held_before = installation().held_before

    answer("shift")
    carry_out()

    for task in tasks:
        now, was = row(task), before[task]
        assert now.due_at - was.due_at == pytest.approx(timedelta(hours=3), abs=timedelta(seconds=5))
        assert now.due_at - was.due_at == now.execute_time - was.execute_time
        assert now.due_at > held_before
    apart = row(tasks[1]).due_at - row(tasks[0]).due_at
    assert apart == pytest.approx(timedelta(seconds=1), abs=timedelta(milliseconds=1))


def test_shift_spreads_it_over_a_time():
    tasks = overdue("a", "b", hours=4) + overdue("c", hours=1)
    back_after(2 * 3_600.0)
    held_before = installation().held_before

    answer("shift", spread_seconds=600.0)
    carry_out()

    ahead = [(row(task).due_at - held_before).total_seconds() for task in tasks]
    assert ahead == [0.0, 0.0, pytest.approx(300.0, abs=5)]


def test_latest_runs_only_the_newest_firing_of_each_job():
    tasks = overdue("a", "b", "c", "d")
    alone = overdue("alone")
    execute(
        "UPDATE punctual_task SET job = CASE biz_key WHEN 'd' THEN 8 ELSE 7 END, fire_time = due_at"
        " WHERE id = ANY (%s)",
        [tasks],
    )
    back_after()
    seen = orders.preview()
    assert seen.foreseen(Choice.LATEST) == "2 earlier firings are cancelled, and 3 tasks run."

    answer("latest")
    carry_out()

    assert statuses(*tasks, *alone) == ["CANCELLED", "CANCELLED", "INIT", "INIT", "INIT"]
    ScheduleTask.objects.filter(id__in=tasks).update(job=None)  # there are no such jobs
    run_due()
    assert statuses(*tasks[2:], *alone) == ["SUCCESS"] * 3


def test_it_goes_page_by_page_and_on_where_it_was():
    tasks = overdue(*map(str, range(5)))
    back_after()
    answer("expire", older_seconds=60.0)

    steps = [step(size=2)]
    assert (steps[0].tasks, steps[0].done, installation().answer["tasks"]) == (2, False, 2)
    reschedule(TYPE, "4", at=TUESDAY)  # somebody wants it after all
    while not steps[-1].done:
        steps.append(step(size=2))

    assert [one.tasks for one in steps] == [2, 2, 0]
    assert statuses(*tasks) == ["CANCELLED"] * 4 + ["INIT"]
    assert step().done


def test_an_order_is_not_replaced_while_it_is_carried_out_but_a_quarantine_stops_it():
    overdue("a", "b", "c")
    back_after()
    answer("expire", older_seconds=60.0)
    with pytest.raises(InvalidTask, match="expire was ordered by olga"):
        answer("run")

    quarantine("a test")
    assert step() == step().__class__(0, done=True)
    assert installation().answer is not None
    answer("run")
    assert installation().answer is None
