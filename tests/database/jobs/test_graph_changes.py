"""What edit, pause, resume, trigger and delete of a job do to its graph: the table in docs/graphs.md, line by line."""

from datetime import datetime, timedelta

import pytest

from tasks_app.core.errors import HasChildren, InvalidTask
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.beat.releaser import release
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.engine.operations.backfill import BackfillRequest
from tasks_app.engine.operations.backfill import start as start_backfill
from tasks_app.lifecycle.campaigns import backfill as campaign_backfill
from tasks_app.lifecycle.campaigns import steps
from tasks_app.lifecycle.jobs import verbs
from tasks_app.models import GraphRun, JobDefinition, JobParent, ScheduleTask, TaskWait
from tests.support.backfill import backfilled, fired, foreseen, hourly, hours
from tests.support.campaigns import carried_out
from tests.support.engine import row, run_due
from tests.support.graphs import begun, child, family, job_named, run_all, states, tasks, waits
from tests.support.jobs import by, instances, now
from tests.support.marks import commits

pytestmark = commits


@pytest.fixture(autouse=True)
def _rules_hold():
    yield
    assert_consistent()


@pytest.fixture
def planned() -> str:
    """root → a → b, with a run of it that is planned and that nobody has claimed; its label."""
    family(a=["root"], b=["a"], options={"root": {"every": 20}})
    plan_once()
    return GraphRun.objects.order_by("fire_time").values_list("label", flat=True)[0]


class TestEdit:
    def test_of_the_root_takes_back_what_nobody_has_begun_and_plans_it_by_the_new_rule(self, planned):
        before = {row.id for row in tasks(planned).values()}
        runs = GraphRun.objects.count()

        verbs.edit(job_named("root").id, {"payload": {"new": 1}}, by())

        after = tasks(planned)
        assert before.isdisjoint(row.id for row in after.values())
        assert {name: row.status for name, row in after.items()} == {"root": "INIT", "a": "BLOCKED", "b": "BLOCKED"}
        assert GraphRun.objects.count() == runs
        assert TaskWait.objects.count() == 2 * runs

    def test_of_the_root_leaves_alone_what_has_begun(self, planned):
        ScheduleTask.objects.filter(id=tasks(planned)["root"].id).update(due_at=now())
        run_due()
        before = {name: row.id for name, row in tasks(planned).items()}

        verbs.edit(job_named("root").id, {"payload": {"new": 1}}, by())

        assert {name: row.id for name, row in tasks(planned).items()} == before

    def test_of_a_child_changes_what_waits_for_its_parents(self, planned):
        before = tasks(planned)["b"].id

        verbs.edit(job_named("b").id, {"payload": {"new": 1}, "lane": "low", "task_type": "T_RATED"}, by())

        row = tasks(planned)["b"]
        assert (row.id, row.payload, row.lane) == (before, {"new": 1}, "low")
        assert (row.task_type, row.limited) == ("T_RATED", True)

    def test_of_the_rule_counts_for_what_waits(self):
        family(a=["root"])
        JobDefinition.objects.filter(name="root").update(payload={"do": "die"})
        begun()
        run_all()
        assert states()["a"] == "BLOCKED"

        verbs.edit(job_named("a").id, {"when": "all_done"}, by())

        assert states()["a"] == "INIT"

    def test_of_the_parents_plans_what_nobody_has_begun_by_the_new_graph(self, planned):
        verbs.edit(job_named("b").id, {"parents": ["root"]}, by())

        made = tasks(planned)
        assert TaskWait.objects.get(task=made["b"].id).parent == made["root"].id
        assert not job_named("a").has_children

    def test_of_the_parents_leaves_a_run_that_has_begun_as_it_is(self, planned):
        ScheduleTask.objects.filter(id=tasks(planned)["root"].id).update(due_at=now())
        run_due()
        made = tasks(planned)

        verbs.edit(job_named("b").id, {"parents": ["root"]}, by())

        assert waits() >= {(made["b"].id, made["a"].id)}

    def test_a_new_child_comes_along_at_once_even_with_a_job_that_runs_at_a_single_time(self):
        later = now().replace(microsecond=0).replace(year=now().year + 1)
        family(options={"root": {"every": 0, "at": later}})
        child("a", "root")

        assert [row.status for row in instances(job_named("a"))] == ["BLOCKED"]
        assert [row.status for row in instances(job_named("root"))] == ["INIT"]

    def test_a_job_with_a_schedule_becomes_a_child_and_back(self):
        family(options={"root": {"every": 20}})
        other = family("other", options={"other": {"every": 20}})
        plan_once()

        verbs.edit(other.id, {"parents": ["root"]}, by())
        other.refresh_from_db()
        assert (other.has_parents, other.every, other.cursor) == (True, 0, None)
        assert {row.status for row in instances(other)} == {"BLOCKED"}
        assert job_named("root").has_children

        verbs.edit(other.id, {"parents": [], "every": 30}, by())
        other.refresh_from_db()
        assert (other.has_parents, other.every) == (False, 30)
        assert not JobParent.objects.exists()
        assert not job_named("root").has_children
        plan_once()
        assert {row.status for row in instances(other)} == {"INIT"}


class TestPause:
    def test_of_the_root_takes_back_what_nobody_has_begun(self, planned):
        verbs.pause(job_named("root").id, by())

        assert not ScheduleTask.objects.exists()
        assert not GraphRun.objects.exists()
        assert not TaskWait.objects.exists()

    def test_of_the_root_lets_a_run_that_has_begun_go_on(self):
        family(a=["root"])
        begun()
        run_due()

        verbs.pause(job_named("root").id, by())
        run_all()

        assert set(states().values()) == {"SUCCESS"}

    def test_of_a_child_holds_it_and_what_comes_after_it_until_it_is_resumed(self):
        family(a=["root"], b=["a"])
        begun()
        verbs.pause(job_named("a").id, by())
        run_all()
        release()
        assert states() == {"root": "SUCCESS", "a": "BLOCKED", "b": "BLOCKED"}

        verbs.resume(job_named("a").id, by())

        assert states()["a"] == "INIT"
        run_all()
        assert set(states().values()) == {"SUCCESS"}


class TestTrigger:
    def test_of_the_root_runs_the_whole_graph(self):
        family(a=["root"], b=["a"])
        begun()
        run_all()

        assert states() == dict.fromkeys(["root", "a", "b"], "SUCCESS")

    def test_of_a_child_runs_it_at_once_and_what_comes_after_it(self):
        family(a=["root"], b=["root"], c=["a", "b"])
        begun("a")

        assert states() == {"a": "INIT", "c": "BLOCKED"}
        assert waits() == {(tasks()["c"].id, tasks()["a"].id)}  # b is not part of this run
        run_all()
        assert states() == {"a": "SUCCESS", "c": "SUCCESS"}

    def test_of_a_leaf_runs_it_alone(self):
        family(a=["root"])
        verbs.trigger(job_named("a").id, "now", by())

        assert states() == {"a": "INIT"}
        assert not GraphRun.objects.exists()

    def test_with_the_same_key_runs_nothing_twice(self):
        family(a=["root"])
        begun()
        run_all()
        verbs.trigger(job_named("root").id, "now", by())

        assert states() == {"root": "SUCCESS", "a": "SUCCESS"}


class TestWithATurn:
    """A job with parents has no overlap of its own, but whoever triggers it may give one."""

    @pytest.fixture
    def in_line(self) -> int:
        family(a=["root"])
        begun("root", "another")
        job = job_named("a").id
        verbs.trigger(job, "now", by(), overlap="queue_all", payload={"mine": 1})
        return tasks()["a"].id

    def test_an_edit_of_the_job_leaves_what_was_triggered_as_it_is(self, in_line):
        verbs.edit(job_named("a").id, {"payload": {"new": 1}}, by())

        assert (row(in_line).status, row(in_line).payload) == ("BLOCKED", {"mine": 1})
        assert tasks("m:another")["a"].payload == {"new": 1}

    def test_a_deletion_cancels_it_as_of_any_job(self, in_line):
        verbs.delete(job_named("a").id, by())

        assert (row(in_line).status, row(in_line).error_code) == ("CANCELLED", "JOB_DELETED")
        assert set(tasks("m:another")) == {"root"}


class TestDelete:
    def test_of_a_job_that_others_wait_for_is_refused(self):
        family(a=["root"])

        with pytest.raises(HasChildren, match="job 'root' can't be deleted while 'a' comes after it"):
            verbs.delete(job_named("root").id, by())

    def test_of_a_leaf_takes_its_waiting_instances_along(self, planned):
        family("r2", y=["r2"])
        begun("r2", "x")

        verbs.delete(job_named("b").id, by())
        verbs.delete(job_named("y").id, by())

        assert set(tasks(planned)) == {"root", "a"}
        assert states("m:x") == {"r2": "INIT"}
        assert not job_named("a").has_children
        verbs.delete(job_named("r2").id, by())


class TestBackfill:
    def test_of_the_root_makes_a_run_of_the_whole_graph_for_each_fire_time(self):
        family(a=["root"], options={"a": {"expires_after": 60}})
        until = now() - timedelta(hours=1)
        JobDefinition.objects.update(plan_from=until - timedelta(days=1))
        start_backfill(BackfillRequest([job_named("root").id], until - timedelta(hours=3), until), by())
        steps.step("test")

        made = ScheduleTask.objects.filter(job=job_named("a").id)
        assert made.count() == GraphRun.objects.count() == ScheduleTask.objects.filter(job=job_named("root").id).count()
        assert set(made.values_list("status", "lane")) == {("BLOCKED", "backfill")}
        run_all()
        assert set(ScheduleTask.objects.values_list("status", flat=True)) == {"SUCCESS"}

    @pytest.mark.parametrize("before", [None, 60])
    def test_an_edit_of_a_child_lets_what_it_made_run_however_late_and_in_its_lane(self, before):
        root = graph()
        JobDefinition.objects.filter(name="a").update(expires_after=before and timedelta(seconds=before))
        carried_out(backfilled(hours(2), root))
        begun(key="live")

        verbs.edit(job_named("a").id, {"expires_after": 30, "lane": "low", "payload": {"new": 1}}, by())

        made = ScheduleTask.objects.filter(job=job_named("a").id, fire_time__lte=hours(1)[0])
        assert [(one.lane, one.expires_after, one.payload) for one in made] == [("backfill", None, {"new": 1})] * 2
        live = tasks("m:live")["a"]
        assert (live.lane, live.expires_after) == ("low", timedelta(seconds=30))
        run_all()
        assert set(made.values_list("status", flat=True)) == {"SUCCESS"}

    def test_a_step_makes_no_more_than_a_planner_does_at_once_with_all_that_comes_along(self, monkeypatch):
        root, plain = graph(), hourly("plain")
        times = hours(4)
        monkeypatch.setattr(campaign_backfill, "INSTANCES", 7)
        campaign = backfilled(times, root, plain)

        steps.step("beat")

        # root, a and b, plain, root, a and b; then there is no room for another three.
        assert (len(fired(root)), len(fired(job_named("b"))), len(fired(plain))) == (2, 2, 1)
        campaign = carried_out(campaign)
        assert (len(fired(root)), len(fired(plain)), campaign.done) == (4, 4, 8)

    def test_of_a_graph_that_is_larger_than_that_goes_one_by_one(self, monkeypatch):
        monkeypatch.setattr(campaign_backfill, "INSTANCES", 1)
        root, times = graph(), hours(2)
        backfilled(times, root)

        steps.step("test")

        assert fired(root) == times[:1]

    def test_without_what_comes_after_runs_the_job_alone(self):
        root = graph()
        times = hours(3)
        dry = foreseen(times, root, descendants=False)

        carried_out(backfilled(times, root, descendants=False))

        assert (dry.instances, dry.along) == (3, 0)
        assert "'root' without what comes after from" in dry.words
        assert fired(root) == times
        assert not fired(job_named("a")) and not GraphRun.objects.exists()

    def test_a_dry_run_counts_what_comes_along(self):
        root = graph()
        times = hours(3)

        dry = foreseen(times, root)

        assert (dry.instances, dry.along) == (3, 6)
        assert "'root' with all that comes after from" in dry.words
        carried_out(backfilled(times, root))
        assert len(fired(job_named("a"))) + len(fired(job_named("b"))) == 6

    def test_of_a_job_with_parents_runs_it_at_its_roots_times_without_waiting_for_them(self):
        root = graph()
        a, times = job_named("a"), hours(3)
        carried_out(backfilled(times[:1], a))
        assert states_at(times[0]) == {"a": "INIT", "b": "BLOCKED"}

        carried_out(backfilled(times, a, descendants=False))

        assert fired(a) == times
        assert fired(job_named("b")) == times[:1]
        assert not fired(root)
        run_all()
        assert states_at(times[0]) == {"a": "SUCCESS", "b": "SUCCESS"}

    def test_of_a_job_with_parents_keeps_to_the_time_of_its_root(self):
        graph(start_at=hours(1)[0])

        assert foreseen(hours(3), job_named("a")).instances == 1

    @pytest.mark.parametrize("order", [("root", "a"), ("a", "root")])
    def test_of_a_job_and_of_one_after_it_lets_the_one_wait_for_the_other(self, order):
        graph()
        times, jobs = hours(2), [job_named(name) for name in order]
        dry = foreseen(times, *jobs)

        campaign = carried_out(backfilled(times, *jobs))

        assert (dry.instances, dry.along) == (2, 4)
        assert campaign.counts == {"created": 2}
        assert states_at(times[0]) == {"root": "INIT", "a": "BLOCKED", "b": "BLOCKED"}

    def test_of_all_firings_once_more_is_a_run_of_its_own(self):
        root = graph()
        times = hours(1)
        carried_out(backfilled(times, root))
        run_all()

        again = carried_out(backfilled(times, root, which="all"))

        assert GraphRun.objects.count() == 2
        assert states(f"b:{again.id}:{label_of(times[0])}") == {"root": "INIT", "a": "BLOCKED", "b": "BLOCKED"}

    def test_of_what_failed_replays_it_and_what_waits_goes_on(self):
        root = graph()
        JobDefinition.objects.filter(id=root.id).update(payload={"do": "die"})
        times = hours(3)
        carried_out(backfilled(times, root))
        run_all()
        assert states_at(times[0]) == {"root": "DEAD", "a": "BLOCKED", "b": "BLOCKED"}
        with pytest.raises(InvalidTask, match="descendants=False: which='failed' replays instances that are there"):
            backfilled(times, root, which="failed", descendants=False)

        ScheduleTask.objects.filter(job=root.id).update(payload={})
        campaign = carried_out(backfilled(times, root, which="failed"))
        run_all()

        assert campaign.counts == {"replayed": 3}
        assert set(ScheduleTask.objects.filter(fire_time__in=times).values_list("status", flat=True)) == {"SUCCESS"}


def graph(**options: object) -> JobDefinition:
    """root → a → b, at every full hour."""
    root = hourly("root", task_type="T_PLAIN", **options)
    child("a", "root")
    child("b", "a")
    return JobDefinition.objects.get(id=root.id)


def label_of(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def states_at(at: datetime) -> dict[str, str]:
    return states(label_of(at))
