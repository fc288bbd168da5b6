"""Instances of a job that were claimed and given back: what people decided about the job meanwhile stays decided."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from tasks_app.lifecycle.claim import return_batches, return_unstarted
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.models import JobDefinition
from tests.support.engine import claim_due, expire_lease, run_due
from tests.support.jobs import by, expected, fire_times, instances, make, now, time_passes
from tests.support.marks import commits

pytestmark = commits

SECOND = timedelta(seconds=1)


def claimed_and_left() -> tuple[JobDefinition, datetime]:
    """A job every 20 s, a minute old; its first firing is claimed by a beat that dies before it publishes."""
    job = make(every=20, catch_up="all")
    time_passes(60 * SECOND)
    claim_due(size=1, batches=1)
    return job, fire_times(job)[0]


def paused_for_80_s(job: JobDefinition, on_resume: str = "skip") -> datetime:
    """The last moment that is certainly in the pause."""
    verbs.pause(job.id, by(), on_resume=on_resume)
    time_passes(80 * SECOND)
    ended = now()
    verbs.resume(job.id, by())
    return ended


def past(job: JobDefinition, until: datetime) -> list[datetime]:
    return [at for at in fire_times(job) if at <= until]


def test_a_firing_that_a_pause_skipped_does_not_come_back_with_a_claim_that_is_given_back():
    job, first = claimed_and_left()
    ended = paused_for_80_s(job)
    assert return_unstarted(["test"]) == 1

    verbs.edit(job.id, {"every": 30}, by())

    assert past(job, ended) == [first - 80 * SECOND]
    assert len(fire_times(job)) > 2  # by the new rule


def test_nor_with_the_edit_after_that():
    job, first = claimed_and_left()
    ended = paused_for_80_s(job)
    return_unstarted(["test"])

    for every in (30, 50):
        verbs.edit(job.id, {"every": every, "payload": {"every": every}}, by())

    assert past(job, ended) == [first - 80 * SECOND]
    assert {task.payload["every"] for task in instances(job)} == {50}


@pytest.mark.parametrize(("on_resume", "count"), [("skip", 0), ("latest", 1), ("all", 4)])
def test_a_second_pause_makes_up_for_its_own_firings_and_for_what_was_given_back_before_it(on_resume, count):
    job, first = claimed_and_left()
    paused_for_80_s(job)
    return_unstarted(["test"])
    between = now()

    ended = paused_for_80_s(job, on_resume)

    given_back, of_second = first - 160 * SECOND, [at for at in past(job, ended) if at > between - 80 * SECOND]
    assert past(job, ended) == ([given_back] if on_resume == "all" else []) + of_second
    assert len(of_second) == count


def test_no_firing_of_a_pause_is_made_up_for_twice_by_way_of_an_edit():
    """`latest` says one run, whatever the schedule is afterwards."""
    job = make(every=40, start_at=now() - 20 * SECOND, catch_up="all")
    verbs.pause(job.id, by(), on_resume="latest")
    time_passes(80 * SECOND)
    ended = now()
    verbs.resume(job.id, by())
    [latest] = past(job, ended)

    verbs.edit(job.id, {"every": 1}, by())

    assert past(job, ended) == [latest]


def test_what_others_have_run_meanwhile_is_not_run_again_by_a_new_rule():
    job, first = claimed_and_left()
    [lost] = {task.batch_no for task in instances(job) if task.status == "RUNNING"}
    run_due()
    ran = [task.fire_time for task in instances(job) if task.status == "SUCCESS"]
    assert return_batches([str(lost)]) == 1

    verbs.edit(job.id, {"every": 1}, by())

    assert past(job, ran[-1]) == [first, *ran]


def test_an_edit_while_it_is_paused_does_not_lose_what_is_given_back():
    job, first = claimed_and_left()
    verbs.pause(job.id, by())
    return_unstarted(["test"])

    verbs.edit(job.id, {"payload": {"n": 2}}, by())

    assert fire_times(job) == [first]


def test_a_deleted_job_does_not_fire_again_though_it_was_paused_when_a_claim_was_given_back():
    job, _ = claimed_and_left()
    verbs.pause(job.id, by())
    return_unstarted(["test"])

    verbs.delete(job.id, by())

    assert fire_times(job) == []


def test_an_edit_leaves_alone_what_has_begun_and_lost_its_worker():
    """It may have had its effect: it keeps its token, and runs by itself from now on."""
    job = make(every=20)
    time_passes(60 * SECOND)
    [batch] = claim_due()
    start(UUID(batch.batch_no), "worker")
    expire_lease(batch)
    reap()
    begun = {task.id: task.token for task in instances(job) if task.solo}
    assert len(begun) == 3

    verbs.edit(job.id, {"payload": {"n": 2}}, by())

    assert {task.id: task.token for task in instances(job) if task.solo} == begun


def test_an_edit_of_something_else_does_not_bind_what_waits_to_the_old_times():
    job = make(every=20, catch_up="all")
    time_passes(60 * SECOND)

    verbs.edit(job.id, {"payload": {"n": 2}}, by())
    edited = verbs.edit(job.id, {"every": 30}, by()).job

    assert fire_times(job) == expected(edited, fire_times(job)[0] - SECOND, fire_times(job)[-1])
