"""A job's life by chance: time passes, planners look, people pause, resume and edit it, tasks are claimed or wait.

The oracle knows nothing of cursors: a list of firings that must run, and of those that fell into the pause.
"""

import random
from datetime import datetime, timedelta

import pytest
from django.db import connection

from tasks_app.engine.planner import plan_once
from tasks_app.lifecycle import jobs
from tasks_app.models import JobDefinition, ScheduleTask
from tests.support.engine import claim_due
from tests.support.jobs import by, instances, make, now
from tests.support.marks import commits

pytestmark = commits

EVERY = 30
STEP = timedelta(seconds=EVERY)

# As if so much time had passed: everything that is written down lies so much further back.
PASS = """
UPDATE job_cursor SET next_fire = next_fire - %(by)s;
UPDATE job_definition SET plan_from = plan_from - %(by)s, start_at = start_at - %(by)s;
UPDATE job_definition SET paused_until = paused_until - %(by)s;
UPDATE schedule_task SET fire_time = fire_time - %(by)s, execute_time = execute_time - %(by)s, due_at = due_at - %(by)s,
    claimed_due = claimed_due - %(by)s;
UPDATE schedule_task SET biz_key = 'moved ' || id, idem_key = 'moved ' || id;
UPDATE schedule_task SET biz_key = job || ':' || to_char(fire_time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
UPDATE schedule_task SET idem_key = biz_key;
"""


class Life:
    def __init__(self, seed: int, **options) -> None:
        self.dice, self.deeds = random.Random(seed), []
        # The real clock stays away from its firings while the test runs.
        since = now() - timedelta(seconds=5)
        self.job = make(every=EVERY, start_at=since, catch_up="all", catch_up_most=1000, **options)
        self.wanted: set[datetime] = set()  # by the clock of the database, moved back whenever time passes
        self.missed: set[datetime] = set()  # within the pause
        self.seen = self.job.plan_from
        self.paused, self.until, self.how = False, None, "skip"

    def look(self) -> None:
        """Firings whose time has come since the last look must run, or fell into the pause."""
        until, self.seen, since = self.until, now(), self.seen
        for at in self.job.schedule.until(since, self.seen, 10_000):
            (self.missed if self.paused and (until is None or at <= until) else self.wanted).add(at)

    def time_passes(self, least: int = 1, most: int = 6) -> None:
        by_ = STEP * self.dice.randint(least, most)
        with connection.cursor() as cursor:
            for statement in filter(str.strip, PASS.split(";")):
                cursor.execute(statement, {"by": by_})
        self.wanted = {at - by_ for at in self.wanted}
        self.missed = {at - by_ for at in self.missed}
        self.seen -= by_
        self.until = self.until and self.until - by_
        self.look()

    def beats_are_away(self) -> None:
        self.time_passes(10, 60)

    def planner_looks(self) -> None:
        plan_once()
        if self.paused and self.until and self.until <= now():
            self._is_active_again(self.how)

    def some_are_claimed(self) -> None:
        claim_due(size=self.dice.randint(1, 3), batches=self.dice.randint(1, 3))

    def it_is_edited(self) -> None:
        jobs.edit(self.job.id, {"payload": {"n": self.dice.random()}}, by())

    def it_is_paused(self) -> None:
        if not self.paused:
            self.look()
            # What nobody has claimed belongs to the pause.
            claimed = {task.fire_time for task in instances(self.job) if task.status == "RUNNING"}
            self.missed, self.wanted = self.wanted - claimed, self.wanted & claimed
            self.paused, self.how = True, self.dice.choice(["skip", "latest", "all"])
            self.until = self.dice.choice([None, now() + STEP * self.dice.randint(1, 20)])
            jobs.pause(self.job.id, by(), until=self.until, on_resume=self.how)

    def it_is_resumed(self) -> None:
        if self.paused:
            how = self.dice.choice(["skip", "latest", "all"])
            jobs.resume(self.job.id, by(), on_resume=how)
            self.look()
            self._is_active_again(how)

    def _is_active_again(self, how: str) -> None:
        count = {"skip": 0, "latest": 1, "all": 1000}[how]
        self.wanted |= set(sorted(self.missed, reverse=True)[:count])
        self.missed, self.paused = set(), False
        self.deeds.append(how)

    def goes_on(self) -> None:
        deeds = {
            self.time_passes: 6,
            self.beats_are_away: 1,
            self.planner_looks: 5,
            self.some_are_claimed: 4,
            self.it_is_edited: 3,
            self.it_is_paused: 2,
            self.it_is_resumed: 3,
        }
        [deed] = self.dice.choices(list(deeds), list(deeds.values()))
        self.deeds.append(deed.__name__)
        deed()


@pytest.mark.parametrize("seed", range(8))
def test_every_firing_runs_once_whatever_people_do_meanwhile(seed):
    life = Life(seed, max_runs=100_000 if seed % 4 == 3 else None)
    for _ in range(40):
        life.goes_on()
    life.it_is_resumed()
    while not plan_once().done:
        pass
    life.look()

    planned = [task.fire_time for task in instances(life.job) if task.fire_time <= life.seen]
    assert planned == sorted(life.wanted), life.deeds
    job = JobDefinition.objects.get()
    assert job.runs == (ScheduleTask.objects.count() if job.max_runs else 0)
