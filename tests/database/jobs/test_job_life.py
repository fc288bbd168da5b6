"""A job's life by chance: time passes, planners look, people change it, tasks are claimed, run or given back.

The oracle knows nothing of cursors: a list of firings that must run, and of those that a pause has taken back.
"""

import random
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from tasks_app.core.firings import INSTANT
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.beat.turn_giver import give_due_turns
from tasks_app.lifecycle.claim import return_batches, return_unstarted
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.models import JobDefinition, ScheduleTask, TaskBatch
from tests.support.engine import claim_due, expire_lease
from tests.support.jobs import by, instances, make, now, time_passes
from tests.support.marks import LONG_LEASES, commits
from tests.support.moves import settled
from tests.support.scale import FULL
from tests.support.turns import under_way

pytestmark = commits

INTERVALS = (60, 40, 120)
STEP = timedelta(seconds=120)  # a multiple of all of them


def plan_all() -> None:
    while not plan_once().done:
        pass


class Life:
    def __init__(self, seed: int, **options) -> None:
        self.dice, self.deeds = random.Random(seed), []
        # The real clock stays away from its firings while the test runs.
        since = now() - timedelta(seconds=5)
        self.job = make(every=INTERVALS[0], start_at=since, catch_up="all", catch_up_most=1000, **options)
        # By the clock of the database, moved back whenever time passes.
        self.wanted: set[datetime] = set()
        self.seen = self.closed = self.job.plan_from  # no firing up to `closed` is decided anew
        self.paused, self.until, self.how = False, None, "skip"
        self.pause_from, self.owed = self.seen, set[datetime]()

    def look(self) -> None:
        """Firings whose time has come since the last look must run, unless it is paused."""
        if not self.paused:
            since, self.seen = self.seen, now()
            self.wanted |= set(self.job.schedule.until(since, self.seen, 10_000))

    def passes(self, least: int = 1, most: int = 6) -> None:
        by_ = STEP * self.dice.randint(least, most)
        time_passes(by_)
        self.wanted, self.owed = ({at - by_ for at in times} for times in (self.wanted, self.owed))
        self.seen, self.closed, self.pause_from = self.seen - by_, self.closed - by_, self.pause_from - by_
        self.until = self.until and self.until - by_
        self.look()

    def beats_are_away(self) -> None:
        self.passes(10, 30)

    def planner_looks(self) -> None:
        plan_once()
        if self.paused and self.until and self.until <= now():
            self._is_active_again(self.how)

    def some_are_claimed(self) -> None:
        claim_due(size=self.dice.randint(1, 3), batches=self.dice.randint(1, 3))

    def turns_are_given(self) -> None:
        give_due_turns()

    def one_is_started(self) -> None:
        for batch in self._some_batch(started_at=None):
            start(batch.batch_no, "worker")

    def one_is_done(self) -> None:
        for batch in claim_due(size=2, batches=1):
            settled(start(UUID(batch.batch_no), "worker"))

    def a_beat_dies(self) -> None:
        return_unstarted(["test"])

    def the_broker_refuses(self) -> None:
        for batch in self._some_batch(started_at=None):
            return_batches([str(batch.batch_no)])

    def a_lease_runs_out(self) -> None:
        for batch in self._some_batch():
            expire_lease(str(batch.batch_no))
            reap()

    def _some_batch(self, **where: object) -> list[TaskBatch]:
        found = list(TaskBatch.objects.filter(finished_at=None, **where).order_by("claimed_at", "batch_no"))
        return [self.dice.choice(found)] if found else []

    def it_is_edited(self) -> None:
        verbs.edit(self.job.id, {"payload": {"n": self.dice.random()}}, by())

    def its_times_are_edited(self) -> None:
        if not self.paused and not any(at > self.closed for at in self._waiting()):
            plan_all()  # else what is open depends on how far the planner is, by less than one firing
        self.look()
        open_from, _ = self._taken_back()
        every = self.dice.choice([one for one in INTERVALS if one != self.job.every])
        self.deeds.append(every)
        self.job = verbs.edit(self.job.id, {"every": every}, by()).job
        if not self.paused:
            self.closed = open_from
            self.wanted = {at for at in self.wanted if at <= open_from}
            self.wanted |= set(self.job.schedule.until(open_from, self.seen, 10_000))

    def it_is_paused(self) -> None:
        if not self.paused:
            self.look()
            # What nobody has claimed belongs to the pause.
            self.pause_from, self.owed = self._taken_back()
            self.wanted -= self.owed | {at for at in self.wanted if at > self.pause_from}
            self.paused, self.how = True, self.dice.choice(["skip", "latest", "all"])
            self.until = self.dice.choice([None, now() + STEP * self.dice.randint(1, 20)])
            verbs.pause(self.job.id, by(), until=self.until, on_resume=self.how)

    def _taken_back(self) -> tuple[datetime, set[datetime]]:
        """From when on a change decides anew, and which of those before wait for somebody to claim them."""
        held = {task.fire_time for task in instances(self.job)} - self._waiting()
        closed = max({self.closed} | held)
        waiting = self.wanted - held
        later = {at for at in waiting if at > closed}
        return min({self.seen} | {at - INSTANT for at in later}), waiting - later

    def _waiting(self) -> set[datetime]:
        waiting = ("INIT", "BLOCKED")
        return {task.fire_time for task in instances(self.job) if task.status in waiting and not task.solo}

    def it_is_resumed(self) -> None:
        if self.paused:
            how = self.dice.choice(["skip", "latest", "all"])
            verbs.resume(self.job.id, by(), on_resume=how)
            self._is_active_again(how)

    def _is_active_again(self, how: str) -> None:
        self.seen = now()
        ended = min(self.seen, self.until or self.seen)
        times = self.job.schedule.until
        missed = sorted(self.owed | set(times(self.pause_from, ended, 10_000)), reverse=True)
        self.closed = max(self.pause_from, ended)
        self.wanted |= set(missed[: {"skip": 0, "latest": 1, "all": 1000}[how]])
        self.wanted |= set(times(self.closed, self.seen, 10_000))
        self.paused, self.owed = False, set()
        self.deeds.append(how)

    def goes_on(self) -> None:
        deeds = {
            self.passes: 6,
            self.beats_are_away: 1,
            self.planner_looks: 5,
            self.some_are_claimed: 6,
            self.turns_are_given: 8 if self.job.overlap != "allow" else 0,
            self.one_is_started: 2,
            self.one_is_done: 3,
            self.a_beat_dies: 3,
            self.the_broker_refuses: 1,
            self.a_lease_runs_out: 2,
            self.it_is_edited: 2,
            self.its_times_are_edited: 4,
            self.it_is_paused: 3,
            self.it_is_resumed: 4,
        }
        [deed] = self.dice.choices(list(deeds), list(deeds.values()))
        self.deeds.append(deed.__name__)
        deed()


@pytest.mark.parametrize(
    ("seed", "overlap"),
    # Every fourth has an end, so one of each kind.
    [*((seed, "allow") for seed in range(12)), *((seed, "queue_all") for seed in range(4))]
    if FULL
    else [(2, "allow"), (3, "allow"), (1, "queue_all")],
)
def test_every_firing_runs_once_whatever_people_do_meanwhile(seed, overlap, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | LONG_LEASES
    life = Life(seed, overlap=overlap, max_runs=100_000 if seed % 4 == 3 else None)
    for _ in range(50):
        life.goes_on()
        if overlap != "allow":
            assert len(under_way(life.job)) <= 1, life.deeds
    life.it_is_resumed()
    plan_all()
    life.look()

    planned = [task.fire_time for task in instances(life.job) if task.fire_time <= life.seen]
    assert planned == sorted(life.wanted), life.deeds
    job = JobDefinition.objects.get()
    assert job.runs == (ScheduleTask.objects.count() if job.max_runs else 0)
