"""A file is applied while somebody edits its jobs by hand, or applies another: whoever is second sees the first."""

import pytest

from tasks_app.core.errors import StaleRevision
from tasks_app.engine.operations.declared_jobs.apply import apply
from tasks_app.engine.operations.declared_jobs.document import BadFile, file_of
from tasks_app.engine.operations.declared_jobs.plan import Plan, Wanted
from tasks_app.engine.operations.declared_jobs.yaml_file import parse
from tasks_app.lifecycle.jobs import verbs
from tasks_app.models import DeclaredJob, JobDefinition
from tests.support.jobs import by, make
from tests.support.marks import commits
from tests.support.overlap import overlap, overlap_results

pytestmark = commits

FIRST = "jobs: [{name: report, task_type: T_QUIET, every: 1h}]"
SECOND = "jobs: [{name: report, task_type: T_QUIET, every: 2h}]"


def applied(text: str, name: str = "jobs.yaml", **wanted) -> Plan:
    return apply(file_of(parse(text, name), name, None), Wanted(**wanted), by())


def by_hand(**changes) -> object:
    job = JobDefinition.objects.get()
    return verbs.edit(job.id, changes, by(), revision=job.revision).job


def test_an_edit_by_hand_that_is_not_committed_yet_is_drift_once_it_is():
    applied(FIRST)

    _, decided = overlap(lambda: by_hand(lane="high"), lambda: applied(SECOND))

    assert [step.by_hand for step in decided.refused] == ["changed by hand since it was applied"]
    job = JobDefinition.objects.get()
    assert (job.every, job.lane) == (3600, "high")


def test_an_edit_by_hand_that_is_rolled_back_never_was():
    applied(FIRST)

    _, decided = overlap(lambda: by_hand(lane="high"), lambda: applied(SECOND), commit=False)

    assert not decided.refused
    assert JobDefinition.objects.get().every == 7200


@pytest.mark.parametrize("commit", [True, False])
def test_an_edit_by_hand_of_what_is_being_applied_is_stale(commit):
    applied(FIRST)

    first, second = overlap_results(lambda: applied(SECOND), lambda: by_hand(lane="high"), commit=commit)

    assert first.error is None and second.waited
    assert isinstance(second.error, StaleRevision) is commit
    job = JobDefinition.objects.get()
    assert (job.every, job.lane) == ((7200, "default") if commit else (3600, "high"))


@pytest.mark.parametrize("commit", [True, False])
def test_a_deletion_by_hand_is_drift_once_it_is_committed(commit):
    applied(FIRST)
    number = JobDefinition.objects.get().id

    _, decided = overlap(lambda: verbs.delete(number, by()), lambda: applied(SECOND), commit=commit)

    assert bool(decided.refused) is commit
    assert JobDefinition.objects.count() == (0 if commit else 1)


@pytest.mark.parametrize("commit", [True, False])
def test_a_job_that_is_made_by_hand_at_the_same_time_is_not_overwritten(commit):
    _, decided = overlap(lambda: make("report", every=60).id, lambda: applied(FIRST), commit=commit)

    assert bool(decided.refused) is commit
    assert JobDefinition.objects.get().every == (60 if commit else 3600)
    assert DeclaredJob.objects.count() == (0 if commit else 1)


@pytest.mark.parametrize("commit", [True, False])
def test_two_files_that_are_applied_at_once_take_turns(commit):
    first, second = overlap_results(lambda: applied(FIRST), lambda: applied(FIRST, "other.yaml"), commit=commit)

    assert first.error is None and second.waited
    assert (second.error is not None) is commit
    assert commit is False or "it is declared in 'jobs.yaml' as well" in str(second.error)
    assert DeclaredJob.objects.get().source == ("jobs.yaml" if commit else "other.yaml")


@pytest.mark.parametrize("commit", [True, False])
def test_two_files_that_take_over_a_job_at_once_take_turns(commit):
    """Neither changes the job, so no lock on it keeps them apart."""
    make("report", every=3600)

    first, second = overlap_results(lambda: applied(FIRST), lambda: applied(FIRST, "other.yaml"), commit=commit)

    assert first.error is None and second.waited
    assert isinstance(second.error, BadFile) is commit
    assert DeclaredJob.objects.get().source == ("jobs.yaml" if commit else "other.yaml")


@pytest.mark.parametrize("commit", [True, False])
def test_the_same_file_applied_twice_at_once_creates_its_jobs_once(commit):
    first, second = overlap(lambda: applied(FIRST), lambda: applied(FIRST), commit=commit)

    assert [step.action for step in first.steps] == ["create"]
    assert [step.action for step in second.steps] == (["same"] if commit else ["create"])
    assert JobDefinition.objects.get().revision == 1
