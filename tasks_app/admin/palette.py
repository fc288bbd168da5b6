"""What the command palette finds beside pages: a task by its number, tasks by key, jobs by name."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy
from unfold.dataclasses import SearchResult

from tasks_app.console.scope import working_in
from tasks_app.core.errors import InvalidTask
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.engine.watch.browse import Filter
from tasks_app.engine.watch.listing import page_of_tasks
from tasks_app.lifecycle.anywhere import task_by_id
from tasks_app.models import JobDefinition, Tenant
from tasks_app.models.schedule_task import TaskFields
from tasks_app.pages.help import PLACES, Place
from tasks_app.pages.links import console_url

from .rights import may_read_api, may_view, may_view_forecast, may_view_jobs, may_view_platform

SHOWN = 5  # of each kind
LOOK_SECONDS = 0.05
TENANTS = 50  # whose jobs are looked through, for somebody who works in all of them
BEGINNING = 3  # characters of a key or a name that are enough to look for what begins with them


PLACES[:0] = [  # before those of apps
    Place("index", gettext_lazy("Overview"), may_view_platform),
    Place("punctual_health", gettext_lazy("Health panel"), may_read_api),
    Place("punctual_job_forecast", gettext_lazy("Load forecast"), may_view_forecast),
]


def find(request: HttpRequest, word: str) -> list[SearchResult]:
    found: list[SearchResult] = []
    if may_view(request):
        found += [_of_task(one) for one in _tasks(word)]
    if may_view_jobs(request):
        found += [_of_job(one) for one in _jobs(word)]
    return found


def _tasks(word: str) -> list[TaskFields]:
    tenant, number = working_in(), word.removeprefix("#")
    found = []
    if number.isascii() and number.isdecimal() and len(number) < 19 and (task := task_by_id(int(number))):
        found.append(task)
    wanted: list[dict[str, Any]] = [{"key": word}]
    if len(word) >= BEGINNING:
        wanted.append({"key_prefix": word})
    for one in wanted:
        try:
            found += page_of_tasks(Filter(tenant=tenant, **one), size=SHOWN, seconds=LOOK_SECONDS).tasks
        except InvalidTask:
            break  # no key looks like this
    seen = {task.id: task for task in found if tenant in (None, task.tenant)}
    return list(seen.values())[:SHOWN]


def _jobs(word: str) -> list[JobDefinition]:
    """By the beginning of the name, in the index of each tenant's jobs."""
    tenant = working_in()
    tenants = [tenant] if tenant else [DEFAULT_TENANT, *Tenant.objects.values_list("name", flat=True)[:TENANTS]]
    by = {"name__startswith": word} if len(word) >= BEGINNING else {"name": word}
    return list(JobDefinition.objects.filter(tenant__in=tenants, **by).order_by("name")[:SHOWN])


def _of_task(task: TaskFields) -> SearchResult:
    words = gettext("Task {id}, {type}, {state}").format(id=task.id, type=task.task_type, state=task.status)
    return SearchResult(task.biz_key, words, console_url("punctual_scheduletask_change", task.id), "task_alt")


def _of_job(job: JobDefinition) -> SearchResult:
    words = gettext("Job, {type}, {state}").format(type=job.task_type, state=job.status)
    return SearchResult(job.name, words, console_url("punctual_jobdefinition_change", job.id), "event_repeat")
