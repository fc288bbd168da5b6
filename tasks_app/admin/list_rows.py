"""The rows of the lists of tasks, jobs and processes, which open consoles ask for again and again. They are made here,
since a template takes several times as long."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from urllib.parse import quote

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from tasks_app.conf import MAIN_SITE
from tasks_app.core.jobs import JobStatus
from tasks_app.engine.watch.job_browse import Run
from tasks_app.engine.watch.status import NodeView
from tasks_app.models import JobDefinition, Node
from tasks_app.models.schedule_task import TaskFields
from tasks_app.pages.links import console_url
from tasks_app.pages.spans import span
from tasks_app.templatetags.punctual import failure, instant, instant_and_away, known_as, runs_bar, state, task_state

_NODE = (
    '<tr{}><th scope="row">{}</th><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>'
)
_NONE = "–"
_BOX = '<td><input type="checkbox" name="ids" value="{}" aria-label="{}"></td>'
_NO_BOX = SafeString("<td></td>")
_TASK = (
    '<tr>{}<th scope="row">{}</th><td>{}{}</td><td>{}</td><td class="pu-key">{}</td><td>{}</td><td>{}</td><td>{}</td>'
    '<td class="pu-key">{}</td></tr>'
)
_JOB = (
    '<tr>{}<th scope="row" class="pu-key"><a href="{}{}/change/"><bdi>{}</bdi></a></th><td>{}</td>'
    '<td class="pu-key">{}<br><small><bdi>{}</bdi></small></td><td>{}</td><td>{}</td>{}</tr>'
)
_DEEDS = (
    '<td><a href="{where}{id}/order/{verb}/" aria-label="{verb_it}">{verb_words}</a> · '
    '<a href="{where}{id}/order/trigger/" aria-label="{run_it}">{run}</a></td>'
)


def task_rows(
    tasks: Iterable[TaskFields], *, cold: bool, chosen: bool, changeable: Collection[int]
) -> Iterator[SafeString]:
    """`cold`: they are in the archive, and have no pages. `chosen`: there is a column to choose some in."""
    where = console_url("punctual_scheduletask_changelist")
    select = gettext("Select task {task}, {type} {key}")
    archived = format_html(" <small>{}</small>", gettext("archived"))
    replaced = format_html(" <small>{}</small>", gettext("replaced"))
    for task in tasks:
        box = ""
        if chosen:
            words = select.format(task=task.id, type=task.task_type, key=task.biz_key)
            box = format_html(_BOX, task.id, words) if not cold and task.id in changeable else _NO_BOX
        one = (
            format_html("{}{}", task.id, archived)
            if cold
            else format_html('<a href="{}{}/change/">{}</a>', where, task.id, task.id)
        )
        due = (
            instant_and_away(task.due_at)
            if task.due_at
            else format_html("<small>{}</small>", instant(task.execute_time))
        )
        status = task_state(task), "" if task.current else replaced
        about = task.task_type, known_as(task), due, task.lane, task.retry_count, failure(task)
        yield format_html(_TASK, box, one, *status, *about)


def job_rows(
    found: Iterable[tuple[JobDefinition, str, str, Sequence[Run] | None]],
    *,
    acting: bool,
    changeable: Collection[int],
) -> Iterator[SafeString]:
    """Of each its schedule and its state in words, and its last runs. `acting`: there are columns to choose and act."""
    where = console_url("punctual_jobdefinition_changelist")
    select, run, run_it = gettext("Select {name}"), gettext("Run now"), gettext("Run {name} now")
    pausing = {"verb": "pause", "verb_words": gettext("Pause")}, gettext("Pause {name}")
    resuming = {"verb": "resume", "verb_words": gettext("Resume")}, gettext("Resume {name}")
    for job, words, now, runs in found:
        box = deeds = _NO_BOX if acting else ""
        if acting and job.id in changeable:
            box = format_html(_BOX, job.id, select.format(name=job.name))
            verb, verb_it = resuming if job.status == JobStatus.PAUSED else pausing
            told = {"verb_it": verb_it.format(name=job.name), "run_it": run_it.format(name=job.name)}
            deeds = format_html(_DEEDS, where=where, id=job.id, run=run, **verb, **told)
        about = job.name, state(job.status), words, now, job.task_type, runs_bar(runs)
        yield format_html(_JOB, box, where, job.id, *about, deeds)


def node_rows(nodes: Iterable[NodeView]) -> Iterator[SafeString]:
    """Beats and workers; of those that are silent, only that they were there."""
    pages = console_url("punctual_node_changelist") + "worker/"
    live, drained, ago = gettext("live"), gettext("drained"), gettext("{time} ago")
    silent = format_html("<strong>{}</strong>", gettext("silent"))
    elsewhere, yes = gettext("at {site}"), gettext("yes")
    for one in nodes:
        name = one.name
        if one.kind == Node.WORKER:
            name = format_html('<a href="{}{}/">{}</a>', pages, quote(one.name, safe=":@"), one.name)
        site = "" if one.site == MAIN_SITE else f" {elsewhere.format(site=one.site)}"
        about = one.version or _NONE, ago.format(time=span(timedelta(seconds=one.seen_seconds_ago)))
        mark, state_words = SafeString(' class="pu-gone"'), silent
        does: tuple[object, ...] = (_NONE, _NONE, _NONE)
        if one.live:
            mark, state_words = "", drained if one.drained else live
            does = yes if one.dispatching else _NONE, one.slots or _NONE, ", ".join(one.lanes) or _NONE
        yield format_html(_NODE, mark, name, one.kind.lower(), site, state_words, *about, *does)
