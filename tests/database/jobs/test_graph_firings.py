"""The firings of a graph: one that is skipped, moved or restored, that a calendar leaves out, or that waits for its
turn. What comes after the root goes with it."""

from datetime import datetime, timedelta

import pytest

from django_punctual.calendars import CalendarRequest, create_calendar, edit_calendar
from tasks_app.core.errors import InvalidTask
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.beat.releaser import release
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.lifecycle.jobs import overrides, replanning, verbs
from tasks_app.lifecycle.jobs.planning import unreadable
from tasks_app.models import FiringOverride, GraphRun, JobDefinition, ScheduleTask, TaskWait
from tests.support.engine import make_due, row
from tests.support.graphs import child, family, job_named, run_all, states, tasks, waits
from tests.support.jobs import by, fire_times, instances, make, now
from tests.support.marks import commits
from tests.support.moves import settled
from tests.support.turns import comes, ids, one_at_a_time, runs

pytestmark = commits

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture(autouse=True)
def _rules_hold():
    yield
    assert_consistent()


@pytest.fixture
def root() -> JobDefinition:
    """root → a → b; the root fires every 10 s, and runs are planned."""
    job = family(a=["root"], b=["a"], options={"root": {"every": 10}})
    plan_once()
    assert len(instances(job)) > 2
    return job


def label_of(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def at(fire_time: datetime) -> dict[str, str]:
    return states(label_of(fire_time))


class TestOneFiring:
    def test_that_is_skipped_takes_the_whole_run_along(self, root):
        first, second, *_ = fire_times(root)

        overrides.skip(root.id, second, by())

        assert at(second) == {}
        assert not GraphRun.objects.filter(fire_time=second).exists()
        assert at(first) == {"root": "INIT", "a": "BLOCKED", "b": "BLOCKED"}
        assert {task for task, _ in waits()} <= set(ScheduleTask.objects.values_list("id", flat=True))

    def test_that_is_moved_keeps_its_fire_time_and_all_of_it_waits_for_the_root(self, root):
        fire, later = fire_times(root)[1], now() + HOUR

        overrides.move(root.id, fire, later, by())
        overrides.move(root.id, fire, later + HOUR, by())

        made = tasks(label_of(fire))
        assert at(fire) == {"root": "INIT", "a": "BLOCKED", "b": "BLOCKED"}
        assert {(one.fire_time, one.execute_time) for one in made.values()} == {(fire, later + HOUR)}
        assert made["root"].due_at == later + HOUR
        assert GraphRun.objects.filter(fire_time=fire).count() == 1
        assert waits() >= {(made["a"].id, made["root"].id), (made["b"].id, made["a"].id)}
        ScheduleTask.objects.filter(job=root.id).exclude(id=made["root"].id).update(due_at=now() + DAY)
        ScheduleTask.objects.filter(fire_time=fire).update(execute_time=now())
        make_due(made["root"].id)
        run_all()
        assert set(at(fire).values()) == {"SUCCESS"}

    def test_that_is_restored_comes_back_with_the_whole_run(self, root):
        fire = fire_times(root)[-1]
        overrides.move(root.id, fire, now() + HOUR, by())

        overrides.restore(root.id, fire, by())

        made = tasks(label_of(fire))
        assert {(name, one.execute_time) for name, one in made.items()} == {(n, fire) for n in ("root", "a", "b")}
        assert TaskWait.objects.count() == 2 * GraphRun.objects.count() == 2 * len(instances(root))

    def test_of_a_job_with_parents_is_its_root_s_business(self, root):
        for fire in (fire_times(root)[0], None):
            with pytest.raises(InvalidTask, match=f"Skip or move those of job {root.id}, 'root': the whole graph goes"):
                overrides.skip(job_named("b").id, fire, by())

    def test_that_was_skipped_is_forgotten_when_its_job_gets_parents(self):
        make("other", every=3600)
        job = make("job", every=3600)
        overrides.skip(job.id, None, by())

        verbs.edit(job.id, {"parents": ["other"]}, by())

        assert not FiringOverride.objects.exists()


class TestCalendar:
    @pytest.fixture(autouse=True)
    def _every_schedule_can_be_read(self):
        unreadable.clear()

    def kept(self) -> tuple[int, JobDefinition]:
        calendar = create_calendar(CalendarRequest("holidays"), by(), tenant="default")
        job = family(a=["root"], b=["a"], options={"root": {"every": 10, "calendar": "holidays"}})
        plan_once()
        assert at(fire_times(job)[0]) == {"root": "INIT", "a": "BLOCKED", "b": "BLOCKED"}
        return calendar.id, job

    def off(self, calendar: int) -> None:
        days = [(now() + number * DAY).date().isoformat() for number in (0, 1)]
        edit_calendar(calendar, {"days_off": days}, by())

    def test_whose_days_leave_a_firing_out_takes_the_whole_run_back(self):
        calendar, _ = self.kept()
        self.off(calendar)

        replanning.replan_changed()

        assert not ScheduleTask.objects.exists()
        assert not GraphRun.objects.exists() and not TaskWait.objects.exists()

    def test_takes_nothing_back_of_a_job_that_got_a_child_after_the_look(self, monkeypatch):
        """That has planned it again, by the new days."""
        calendar = create_calendar(CalendarRequest("holidays"), by(), tenant="default").id
        job = make("root", task_type="T_PLAIN", every=10, calendar="holidays")
        plan_once()
        self.off(calendar)
        left_out, seen = replanning._left_out, []

        def looks(one, days):
            if not seen:
                seen.append(one)
                edit_calendar(calendar, {"days_off": []}, by())
                child("a", "root")
            return left_out(one, days)

        monkeypatch.setattr(replanning, "_left_out", looks)
        replanning.replan_changed()

        assert seen and {len(at(fire)) for fire in fire_times(job)} == {2}


class TestOverlap:
    """The policy is the root's: what becomes of its instance becomes of the whole run."""

    def three_runs(self, overlap: str) -> list[int]:
        """Three instances of a root, the first of which runs."""
        job = one_at_a_time(overlap, "root", task_type="T_PLAIN")
        child("a", "root"), child("b", "a")
        found = ids(job)
        self.first = runs(found[0])
        return found

    def of(self, task_id: int) -> dict[str, str]:
        return states(row(task_id).biz_key.partition(":")[2])

    def codes(self, task_id: int) -> set[str]:
        return {one.error_code for one in tasks(row(task_id).biz_key.partition(":")[2]).values()}

    def test_what_comes_after_an_instance_that_was_skipped_is_not_needed(self):
        _, second, third = self.three_runs("skip")
        comes(second)
        release()

        assert set(self.of(second).values()) == {"CANCELLED"}
        assert self.codes(second) == {"OVERLAP", "NOT_NEEDED"}
        assert set(self.of(third).values()) == {"BLOCKED"}

    @pytest.mark.parametrize("overlap", ["queue_one", "queue_all"])
    def test_what_comes_after_an_instance_in_line_waits_with_it(self, overlap):
        first, second, third = self.three_runs(overlap)
        comes(second)
        comes(third)
        release()
        assert set(self.of(second).values()) == {"BLOCKED"}
        assert set(self.of(third).values()) == ({"CANCELLED"} if overlap == "queue_one" else {"BLOCKED"})

        settled(self.first)
        comes()
        release()
        assert self.of(second) == {"root": "INIT", "a": "BLOCKED", "b": "BLOCKED"}
        assert self.of(first) == {"root": "SUCCESS", "a": "INIT", "b": "BLOCKED"}

    def test_what_comes_after_an_instance_that_was_replaced_is_not_needed(self):
        first, second, _ = self.three_runs("replace")
        comes(second)
        release()

        assert set(self.of(first).values()) == {"CANCELLED"}
        assert self.codes(first) == {"OVERTAKEN", "NOT_NEEDED"}
        assert self.of(second) == {"root": "INIT", "a": "BLOCKED", "b": "BLOCKED"}

    def test_an_edit_takes_back_what_is_in_line_with_all_that_comes_after_it(self):
        first, second, _ = self.three_runs("queue_all")
        comes(second)
        before = {
            one.id for one in ScheduleTask.objects.filter(status="BLOCKED").exclude(fire_time=row(first).fire_time)
        }

        verbs.edit(job_named("root").id, {"payload": {"new": 1}}, by())

        assert before.isdisjoint(ScheduleTask.objects.values_list("id", flat=True))
        assert GraphRun.objects.count() == len(instances(job_named("root")))
        assert TaskWait.objects.count() == 2 * GraphRun.objects.count()
