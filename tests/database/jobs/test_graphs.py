"""Jobs that wait for others: what is made of them, when it is released, and what becomes of it if a parent fails."""

import re
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import InterfaceError

from django_punctual import cancel, ensure, reschedule
from tasks_app.core.errors import InvalidTask
from tasks_app.engine.beat.chores import lose_silent
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.beat.releaser import release
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.dead_letter import discard, replay
from tasks_app.lifecycle.jobs import planning, verbs
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.past import move_batches, move_strays
from tasks_app.models import AwayTask, GraphRun, JobCursor, JobDefinition, JobParent, ScheduleTask, TaskBatch, TaskWait
from tests.support.api import Api
from tests.support.campaigns import begun as campaign
from tests.support.campaigns import carried_out
from tests.support.engine import claim_due, make_due, run_due
from tests.support.graphs import begun, child, ends, family, forget, job_named, run_all, states, tasks, waits
from tests.support.jobs import by, instances, make, now
from tests.support.marks import commits

pytestmark = commits

DIAMOND = {"left": ["root"], "right": ["root"], "last": ["left", "right"]}


@pytest.fixture(autouse=True)
def _rules_hold():
    yield
    assert_consistent()


def next_firing(job: JobDefinition) -> None:
    """As if it were about to fire: the planner makes its next instance."""
    forget()
    JobCursor.objects.update(next_fire=job.schedule.next(now(), 1)[0])
    plan_once()


def fast_and_slow() -> None:
    """`last` waits for `fast`, and for `slow`, which fails and is tried again in an hour."""
    slow = {"payload": {"do": "retry", "after": 3600}}
    family(fast=["root"], slow=["root"], last=["fast", "slow"], options={"slow": slow})


def killed(ids: list[int]) -> None:
    raise InterfaceError("the connection is closed")


def moved_to_the_past() -> None:
    long_ago = now() - timedelta(days=1)
    TaskBatch.objects.filter(finished_at__isnull=False).update(finished_at=long_ago)
    ScheduleTask.objects.filter(status__in=["SUCCESS", "CANCELLED"]).update(updated_at=long_ago - timedelta(hours=1))
    move_batches()
    move_strays(0)


class TestPlanning:
    def test_a_firing_of_the_root_makes_an_instance_of_every_job_below_it(self):
        root = family(**DIAMOND, options={"root": {"every": 60}})
        next_firing(root)

        [label] = GraphRun.objects.values_list("label", flat=True)
        made = tasks(label)

        assert {name: row.status for name, row in made.items()} == {
            "root": "INIT", "left": "BLOCKED", "right": "BLOCKED", "last": "BLOCKED",
        }  # fmt: skip
        assert {row.fire_time for row in made.values()} == {made["root"].fire_time}
        assert all(row.biz_key == f"{row.job}:{label}" for row in made.values())
        assert waits() == {
            (made["left"].id, made["root"].id),
            (made["right"].id, made["root"].id),
            (made["last"].id, made["left"].id),
            (made["last"].id, made["right"].id),
        }

    def test_planning_again_makes_nothing_twice(self):
        root = family(**DIAMOND, options={"root": {"every": 60}})
        next_firing(root)
        before = set(ScheduleTask.objects.values_list("id", flat=True))

        JobCursor.objects.update(next_fire=instances(root)[0].fire_time, after_job=0)
        plan_once()

        same = {"fire_time": instances(root)[0].fire_time}
        assert set(ScheduleTask.objects.filter(**same).values_list("id", flat=True)) == before
        assert GraphRun.objects.filter(**same).count() == 1

    def test_a_run_remembers_the_graph_as_it_was(self):
        family(**DIAMOND)
        run = begun()

        names = {job: name for job, name, _ in run.nodes}
        assert {names[job]: {names[one] for one in above} for job, _, above in run.nodes} == {
            "root": set(), "left": {"root"}, "right": {"root"}, "last": {"left", "right"},
        }  # fmt: skip

    def test_large_graphs_are_planned_in_steps_of_a_bounded_size(self, monkeypatch):
        monkeypatch.setattr(planning, "INSTANCES", 5)
        for number in range(4):
            make(f"root {number}", cron="* * * * *")
            for one in range(3):
                child(f"child {number} {one}", f"root {number}")
        forget()
        root = job_named("root 0")
        fire = root.schedule.next(now(), 1)[0]
        roots = JobDefinition.objects.filter(has_children=True)
        roots.update(cursor=root.cursor, shard=root.shard, plan_from=now())
        JobCursor.objects.filter(id=root.cursor).update(next_fire=fire, after_job=0)
        JobCursor.objects.exclude(id=root.cursor).delete()

        ahead = (fire - now()).total_seconds() + 1
        steps = []
        while (step := planning.plan_due([root.shard], ahead)).cursors:
            steps.append(step.instances)

        assert steps == [2, 2]  # two roots bring six others along
        assert GraphRun.objects.count() == 4
        assert ScheduleTask.objects.filter(status="BLOCKED").count() == 12

    def test_jobs_without_children_bring_nothing_along(self):
        make("plain", every=60)
        plan_once()

        assert not GraphRun.objects.exists()
        assert not TaskWait.objects.exists()


class TestOrder:
    def test_a_diamond_runs_from_the_top_to_the_bottom(self):
        family(**DIAMOND)
        begun()

        order = run_all()

        ids = {name: f"{job_named(name).id}:m:now" for name in ("root", "left", "right", "last")}
        assert order[0] == ids["root"]
        assert set(order[1:3]) == {ids["left"], ids["right"]}
        assert order[3:] == [ids["last"]]
        assert set(states().values()) == {"SUCCESS"}
        assert not waits()

    def test_a_wide_graph_waits_for_all_of_its_parents(self):
        wide = [f"w{n}" for n in range(12)]
        family(**{name: ["root"] for name in wide}, last=wide)
        begun()

        run_due()
        assert {name for name, state in states().items() if state == "BLOCKED"} == {"last"}
        run_due(size=5)
        assert states()["last"] == "INIT"
        run_all()
        assert set(states().values()) == {"SUCCESS"}

    def test_a_parent_that_failed_and_is_tried_again_is_not_over(self):
        family(a=["root"], options={"root": {"payload": {"do": "retry", "after": 3600}}})
        begun()

        run_due()

        assert states() == {"root": "FAIL", "a": "BLOCKED"}
        assert not TaskWait.objects.filter(ended__isnull=False).exists()

    def test_what_was_moved_while_it_waited_runs_at_its_new_time(self):
        family(a=["root"])
        begun()
        row = tasks()["a"]
        later = now() + timedelta(hours=1)
        reschedule(row.task_type, row.biz_key, at=later)
        run_due()

        assert (tasks()["a"].status, tasks()["a"].due_at) == ("INIT", later)

    def test_the_walk_finds_what_nobody_looked_at(self, monkeypatch):
        """A worker was killed between its settle and its look at the children."""
        monkeypatch.setattr("tasks_app.engine.worker.batch_run.release_children", killed)
        family(**DIAMOND)
        begun()
        run_due()
        assert states()["left"] == "BLOCKED"
        looked = now()

        assert release() == 2

        assert tasks()["left"].due_at >= looked  # a dispatcher reads on from where it was
        assert (states()["left"], states()["right"], states()["last"]) == ("INIT", "INIT", "BLOCKED")

    def test_a_parent_may_lie_in_the_past_when_its_child_is_looked_at(self):
        fast_and_slow()
        begun()
        run_all()
        assert states()["last"] == "BLOCKED"

        moved_to_the_past()
        assert not ScheduleTask.objects.filter(job=job_named("fast").id).exists()
        slow = tasks()["slow"]
        ScheduleTask.objects.filter(id=slow.id).update(payload={})
        make_due(slow.id)
        run_due()

        assert states()["last"] == "INIT"

    def test_the_walk_notes_how_a_parent_ended_before_it_leaves(self):
        fast_and_slow()
        begun()
        run_all()
        ScheduleTask.objects.filter(status="SUCCESS").update(updated_at=now() - timedelta(minutes=1))

        release()

        assert set(TaskWait.objects.values_list("parent", "ended")) == {
            (tasks()["fast"].id, "SUCCESS"), (tasks()["slow"].id, None),
        }  # fmt: skip


class TestFailure:
    def test_what_waits_for_a_success_goes_on_waiting_and_a_replay_releases_it(self):
        family(a=["root"], b=["a"])
        ends("root", "die")
        begun()
        run_all()
        assert states() == {"root": "DEAD", "a": "BLOCKED", "b": "BLOCKED"}

        root = tasks()["root"]
        ScheduleTask.objects.filter(id=root.id).update(payload={})
        replay([root.id], "olga")
        run_all()

        assert set(states().values()) == {"SUCCESS"}

    def test_a_campaign_that_replays_many_parents_lets_all_that_waits_go_on(self):
        family(a=["root"], b=["a"])
        ends("root", "die")
        for key in ("one", "two", "three"):
            begun("root", key)
        run_all()
        dead = ScheduleTask.objects.filter(status="DEAD")
        ids = list(dead.values_list("id", flat=True))
        dead.update(payload={})

        assert carried_out(campaign(Verb.REPLAY, ids)).counts == {"replayed": 3}
        run_all()

        assert set(ScheduleTask.objects.values_list("status", flat=True)) == {"SUCCESS"}

    def test_a_job_may_want_its_instance_cancelled_and_what_is_after_it_too(self):
        family(a=["root"], b=["a"], options={"a": {"if_parent_fails": "cancel"}, "b": {"if_parent_fails": "cancel"}})
        ends("root", "die")
        begun()
        run_all()

        assert states() == {"root": "DEAD", "a": "CANCELLED", "b": "CANCELLED"}
        assert {row.error_code for name, row in tasks().items() if name != "root"} == {"PARENT_FAILED"}
        assert not waits()

    @pytest.mark.parametrize("how", ["die", "skip"])
    def test_all_done_runs_however_its_parents_ended(self, how):
        options = {"tidy": {"when": "all_done"}, "a": {"if_parent_fails": "cancel"}}
        family(a=["root"], tidy=["root", "a"], options=options)
        ends("root", how)
        begun()
        run_all()

        assert (states()["a"], states()["tidy"]) == ("CANCELLED", "SUCCESS")

    def test_any_failed_runs_as_soon_as_one_parent_has_failed(self):
        family(a=["root"], b=["root"], clean=["a", "b"], options={"clean": {"when": "any_failed"}})
        ends("a", "die")
        ends("b", "retry")
        begun()
        run_due()
        run_due()
        run_due()

        assert (states()["a"], states()["b"], states()["clean"]) == ("DEAD", "FAIL", "SUCCESS")

    def test_a_clean_up_that_nothing_failed_for_is_not_needed_and_neither_is_what_comes_after_it(self):
        family(a=["root"], clean=["a"], report=["clean"], options={"clean": {"when": "any_failed"}})
        begun()
        run_all()

        assert states() == {"root": "SUCCESS", "a": "SUCCESS", "clean": "CANCELLED", "report": "CANCELLED"}
        assert {tasks()[name].error_code for name in ("clean", "report")} == {"NOT_NEEDED"}

    def test_the_walk_finds_a_parent_that_a_person_cancelled_or_discarded(self):
        family(a=["root"], tidy=["a"], options={"tidy": {"when": "all_done"}})
        begun()
        row = tasks()["root"]
        cancel(row.task_type, row.biz_key, reason="no", by="olga")
        release()
        assert states() == {"root": "CANCELLED", "a": "BLOCKED", "tidy": "BLOCKED"}
        assert set(TaskWait.objects.filter(task=tasks()["a"].id).values_list("ended", flat=True)) == {"CANCELLED"}

        row = tasks()["a"]
        cancel(row.task_type, row.biz_key, reason="no", by="olga")
        release()
        assert states()["tidy"] == "INIT"
        assert not waits()

    def test_a_death_that_is_replayed_is_no_longer_noted(self):
        family(a=["root"])
        ends("root", "die")
        begun()
        run_all()
        assert TaskWait.objects.get().ended == "DEAD"

        replay([tasks()["root"].id], "olga")
        release()

        assert TaskWait.objects.get().ended is None

    def test_a_parent_that_was_given_up_for_good_counts_as_cancelled(self):
        family(a=["root"])
        ends("root", "die")
        begun()
        run_all()
        JobDefinition.objects.filter(name="a").update(if_parent_fails="cancel")

        discard([tasks()["root"].id], "hopeless", "olga")
        release()

        assert states() == {"root": "CANCELLED", "a": "CANCELLED"}

    def test_a_row_that_takes_over_from_a_parent_is_waited_for_in_its_place(self):
        family(a=["root"])
        begun()
        row = tasks()["root"]
        claim_due()
        ensure(row.task_type, row.biz_key, delay=0)

        assert TaskWait.objects.get().parent == tasks()["root"].id != row.id
        release()
        assert states() == {"root": "INIT", "a": "BLOCKED"}
        run_all()
        assert states() == {"root": "SUCCESS", "a": "SUCCESS"}


class TestAway:
    """A parent that somebody else has: its children are looked at as soon as that has said what became of it."""

    @pytest.fixture(autouse=True)
    def _handed_over(self):
        family(a=["root"], tidy=["root"], options={"tidy": {"when": "any_failed"}})
        ends("root", "away")
        begun()
        run_due()
        assert states() == {"root": "AWAY", "a": "BLOCKED", "tidy": "BLOCKED"}

    def told(self, how: str, body: dict, label: str = "m:now") -> None:
        root = tasks(label)["root"]
        run = root.batch_no or root.ran_in
        answer = Api().post(f"/tasks/{root.token}/{how}?task={root.id}&run={run}", body)
        assert answer.status == 200, answer.body

    def test_that_succeeded(self):
        self.told("complete", {"result": 7})

        assert states() == {"root": "SUCCESS", "a": "INIT", "tidy": "CANCELLED"}

    def test_that_gave_up(self):
        self.told("fail", {"code": "NO_FILE", "retryable": False})

        assert states() == {"root": "DEAD", "a": "BLOCKED", "tidy": "INIT"}

    def test_that_is_tried_again(self):
        self.told("fail", {"code": "NO_FILE"})

        assert states() == {"root": "FAIL", "a": "BLOCKED", "tidy": "BLOCKED"}

    def test_of_which_nothing_was_heard_any_more(self):
        ScheduleTask.objects.filter(id=tasks()["root"].id).update(max_retry=0)
        AwayTask.objects.update(until=now() - timedelta(seconds=1))

        lose_silent()

        assert states() == {"root": "DEAD", "a": "BLOCKED", "tidy": "INIT"}

    def test_whose_outcome_was_reported_before_it_was_away(self):
        begun("root", "early")
        [batch] = claim_due()
        self.told("complete", {"result": 7}, "m:early")
        assert states("m:early")["root"] == "RUNNING"

        run_batch(UUID(batch.batch_no))

        assert states("m:early") == {"root": "SUCCESS", "a": "INIT", "tidy": "CANCELLED"}


class TestValues:
    def test_a_handler_reads_what_its_parents_returned(self):
        family(a=["root"], b=["root"], last=["a", "b"], options={
            "a": {"payload": {"return": {"rows": 3}}},
            "last": {"task_type": "T_PARENTS"},
        })  # fmt: skip
        begun()
        run_all()

        made = tasks()
        assert made["last"].result == {
            "a": [made["a"].id, "SUCCESS", {"rows": 3}],
            "b": [made["b"].id, "SUCCESS", None],
        }

    def test_also_when_a_parent_lies_in_the_past(self):
        family(a=["root"], last=["a"], options={
            "a": {"payload": {"return": 7}},
            "last": {"task_type": "T_PARENTS"},
        })  # fmt: skip
        begun()
        run_due()
        run_due()
        moved_to_the_past()
        assert not ScheduleTask.objects.filter(job=job_named("a").id).exists()

        run_due()

        assert tasks()["last"].result == {"a": [tasks()["a"].id, "SUCCESS", 7]}

    @pytest.mark.parametrize("parents", [["a"], ["root"], []], ids=["fewer", "another", "none"])
    def test_a_run_that_has_begun_reads_those_that_it_was_made_with(self, parents):
        family(a=["root"], b=["root"], last=["a", "b"], options={"last": {"task_type": "T_PARENTS"}})
        begun()
        run_due()

        verbs.edit(job_named("last").id, {"parents": parents} | ({} if parents else {"every": 3600}), by())
        begun(key="later")
        run_all()
        release()  # its parents have no children any more, so a beat has to find it
        run_all()

        assert set(tasks()["last"].result) == {"a", "b"}
        if parents:
            assert set(tasks("m:later")["last"].result) == set(parents)

    def test_a_task_without_parents_has_none(self):
        make("alone", task_type="T_PARENTS", every=3600)
        verbs.trigger(job_named("alone").id, "now", by())
        run_due()

        assert tasks()["alone"].result == {}


class TestSaving:
    def test_a_circle_is_refused_and_named(self):
        family(a=["root"], b=["a"], c=["b"])

        with pytest.raises(InvalidTask, match="wait for each other: 'a' → 'b' → 'c' → 'a'"):
            verbs.edit(job_named("a").id, {"parents": ["root", "c"]}, by())
        assert set(JobParent.objects.filter(job=job_named("a").id).values_list("parent", flat=True)) == {
            job_named("root").id
        }

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"parents": ["rot"]}, "parents has 'rot', but there is no job of that name. Did you mean 'root'?"),
            ({"parents": ["x"]}, "a job can't wait for itself"),
            ({"parents": "root"}, "must be a list of names of jobs"),
            ({"parents": ["root", "root"]}, "must name each job once"),
            ({"parents": ["root"], "cron": "0 6 * * *"}, "belongs to a schedule, and a job with parents has none"),
            ({"parents": ["root"], "jitter": 5}, "jitter=5 belongs to a schedule"),
            ({"parents": ["root"], "max_runs": 5}, "max_runs=5 belongs to a schedule"),
            ({"parents": ["root"], "when": "sometimes"}, "when='sometimes' is unknown; use all_success, all_done"),
            ({"parents": ["root"], "if_parent_fails": "cry"}, "if_parent_fails='cry' is unknown; use wait, cancel"),
            ({"parents": ["root", "other"]}, "would come after 'root' and 'other', each with a schedule of its own"),
            ({"parents": []}, "a schedule has exactly one of cron, every and at"),
        ],
    )
    def test_what_can_not_be_is_refused(self, fields, words):
        make("root", every=3600)
        make("other", every=3600)

        with pytest.raises(InvalidTask, match=re.escape(words)):
            verbs.create(JobRequest(name="x", task_type="T_PLAIN", **fields), by(), "default")
        assert not JobDefinition.objects.filter(name="x").exists()

    def test_another_tenants_job_is_no_parent(self):
        make("theirs", tenant="acme", every=3600)

        with pytest.raises(InvalidTask, match="there is no job of that name"):
            child("x", "theirs")
