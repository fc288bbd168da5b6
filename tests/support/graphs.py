"""Graphs for tests: jobs that wait for each other made in a line, a run of them begun, and its tasks by name."""

from collections.abc import Sequence

from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.models import AnyTask, GraphRun, JobDefinition, ScheduleTask, TaskWait
from tests.support.engine import run_due
from tests.support.jobs import by, make

TYPE = "T_PLAIN"


def child(name: str, *parents: str, task_type: str = TYPE, **options: object) -> JobDefinition:
    request = JobRequest(name=name, task_type=task_type, parents=list(parents), **options)
    return verbs.create(request, by(), "default").job


def family(root: str = "root", /, *, options: dict[str, dict] | None = None, **parents: Sequence[str]) -> JobDefinition:
    """A root that fires every hour, and jobs that wait for others: `family(a=["root"], b=["a"])`."""
    options = options or {}
    job = make(root, task_type=TYPE, **{"every": 3600, **options.get(root, {})})
    for name, above in parents.items():
        child(name, *above, **options.get(name, {}))
    return JobDefinition.objects.get(id=job.id)


def job_named(name: str) -> JobDefinition:
    return JobDefinition.objects.get(name=name)


def begun(name: str = "root", key: str = "now") -> GraphRun:
    """A run that somebody triggered."""
    verbs.trigger(job_named(name).id, key, by())
    return GraphRun.objects.get(job=job_named(name).id, label=f"m:{key}")


def forget() -> None:
    """As if nothing had been planned yet."""
    for model in (ScheduleTask, TaskWait, GraphRun):
        model.objects.all().delete()


def tasks(label: str = "m:now") -> dict[str, ScheduleTask]:
    """The current tasks of a run, by the names of their jobs."""
    names = dict(JobDefinition.objects.values_list("id", "name"))
    rows = AnyTask.objects.filter(biz_key__endswith=f":{label}", current=True)
    return {names.get(row.job, str(row.job)): row for row in rows}


def states(label: str = "m:now") -> dict[str, str]:
    return {name: row.status for name, row in tasks(label).items()}


def waits() -> set[tuple[int, int]]:
    return {(one.task, one.parent) for one in TaskWait.objects.all()}


def ends(name: str, how: str) -> None:
    """From now on the job's handler ends so: ok, die, skip."""
    JobDefinition.objects.filter(name=name).update(payload={"do": how})


def run_all(most: int = 30) -> list[str]:
    """Run what is due until nothing is; the keys in the order in which they ran."""
    order: list[str] = []
    for _ in range(most):
        before = set(AnyTask.objects.filter(start_time__isnull=False).values_list("id", flat=True))
        if not run_due():
            break
        ran = AnyTask.objects.filter(start_time__isnull=False).exclude(id__in=before).order_by("start_time", "id")
        order += [row.biz_key for row in ran]
    return order
