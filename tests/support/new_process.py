"""What our code remembers for as long as its process lives: each test finds it as a process does that has just begun.

Tests of many files share a process, in an order that depends on how fast they are.
"""

from __future__ import annotations

import ast
import sys
import threading
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType

BEAT = "tasks_app.engine.beat"
REMEMBERED = {
    "tasks_app.admin.overview": ("READING",),
    "tasks_app.console.looks": ("LOOKS",),
    "tasks_app.console.streams": ("STREAMS",),
    "tasks_app.engine.barrier": ("BARRIER",),
    "tasks_app.engine.celery_app": ("GIVEN",),
    "tasks_app.engine.channels.sending": ("_stopped", "_threads"),
    "tasks_app.engine.lookout": ("LOOKOUT",),
    "tasks_app.engine.primaries": ("PRIMARIES",),
    "tasks_app.engine.wakeup": ("SENDER",),
    "tasks_app.engine.watch.firing_load": ("_kept",),
    "tasks_app.engine.web.throttle": ("MEMORY",),
    "tasks_app.engine.witness": ("WITNESS",),
    "tasks_app.engine.worker.callbacks.endpoints": ("_known",),
    "tasks_app.engine.worker.draining": ("DRAINING",),
    "tasks_app.engine.worker.results": ("_told_at",),
    "tasks_app.lifecycle.asking": ("ASKING",),
    "tasks_app.lifecycle.jobs.planning": ("skipped", "unreadable"),
    "tasks_app.lifecycle.named_secrets": ("_known_at",),
    "tasks_app.lifecycle.retry_budget": ("_buckets",),
    "tasks_app.lifecycle.scopes": ("FAILING", "SUCCESSES"),
    "tasks_app.lifecycle.alike_rows": ("TAKEN",),
    "tasks_app.lifecycle.schedule": ("BOUND",),
    "tasks_app.lifecycle.stalls": ("SKIPPED",),
    "tasks_app.lifecycle.start": ("CLOCK",),
    "tasks_app.lifecycle.tenant_defaults": ("_known",),
    "tasks_app.models.calendar": ("_known",),
    f"{BEAT}.alarms.looking": ("_looked_at",),
    f"{BEAT}.archiver": ("_stopped",),
    f"{BEAT}.campaigns": ("_stopped",),
    f"{BEAT}.mover": ("_walked_to", "_walked_at", "_vain", "_rested"),
    f"{BEAT}.overdue": ("_stopped",),
    f"{BEAT}.ping": ("_stopped",),
    f"{BEAT}.quotas": ("_jobs_at", "_noted_at"),
    f"{BEAT}.releaser": ("_walked_to",),
    f"{BEAT}.rescue": ("_walked_to",),
    f"{BEAT}.resuming": ("_stopped",),
    f"{BEAT}.retention": ("_cursors",),
    f"{BEAT}.tenant_archiver": ("_stopped",),
    f"{BEAT}.tenants": ("_stopped",),
}
# What could be such memory by its looks, and stays, with the reason.
STAYS = {
    "tasks_app.core.alarms": {"LOOKS": "apps declare them"},
    "tasks_app.core.away": {"_make": "set when the engine is imported"},
    "tasks_app.django_tasks.declared": {"DECLARED": "the tasks, by their paths"},
    "tasks_app.django_tasks.task": {"_backends": "cleared when TASKS is changed"},
    "tasks_app.core.deferral": {"DEFERRING": "batches that run", "_check": "set at set-up"},
    "tasks_app.core.payloads.compiler": {"_makers": "set when libraries are imported"},
    "tasks_app.core.running": {"BATCHES": "batches that run", "_wanted": "the settings of the log ask for it"},
    "tasks_app.drills.journal": {"_open": "files, by their paths"},
    "tasks_app.embedded.stack": {"_open_locks": "of stacks that run"},
    "tasks_app.engine.celery_app": {"_project": "the project's app"},
    "tasks_app.engine.celery_options": {"_own": "read from the settings"},
    "tasks_app.engine.envelope": {"_tags": "only has to count"},
    "tasks_app.engine.nodes": {"_worker": "only in a real worker"},
    "tasks_app.engine.primaries": {"_opened": "connections, which stay too"},
    "tasks_app.engine.tracing": {"_tracer": "belongs to the provider that it was made by"},
    "tasks_app.engine.worker.callbacks.clerk": {"_the_clerk": "conftest.py stops the threads"},
    "tasks_app.engine.worker.callbacks.switchboard": {"_the_switchboard": "its threads wait for the calls of any test"},
    "tasks_app.engine.worker.event_loop": {"_the_loop": "conftest.py stops the threads"},
    "tasks_app.engine.worker.executor": {"_the_threads": "conftest.py stops the threads"},
    "tasks_app.engine.worker.process": dict.fromkeys(("_inherited", "_is_ours", "_reporter"), "only in a real worker"),
    "tasks_app.engine.worker.sentry": {"_told": "belongs to the scope that was told"},
    "tasks_app.engine.worker.shutdown": {"_flag": "tests reset it"},
    "tasks_app.engine.worker.threads": {"_crews": "conftest.py stops the threads"},
    "tasks_app.lifecycle.retry_budget": {"_account": "set when the worker is imported"},
    "tasks_app.pages.help": {"PLACES": "apps declare them"},
    "tasks_app.pages.saved": {"LISTS": "apps declare them"},
    "articles_app.deadline": {"_call": "each thread has its own"},
}


def forget() -> None:
    """Put it all back. What others have imported by its name is changed in place."""
    for name, remembered in REMEMBERED.items():
        module = sys.modules.get(name)
        for one in remembered if module else ():
            _put_back(module, one)


def end_chores() -> None:
    """Those that a beat does in threads of their own end before the tables are emptied: else they would do it with the
    next test's."""
    chores = sys.modules.get(f"{BEAT}.chores")
    begun = [thread for thread in threading.enumerate() if thread.name.startswith("punctual-")] if chores else []
    for thread in begun:
        for chore in chores.CHORES:
            if thread.name == f"punctual-{chore.name}":
                chore.stop()
                if isinstance(thread, chores.Aside):
                    thread.end()  # else it would stay for a while, in case that it is needed again
                thread.join(60)


def _put_back(module: ModuleType, name: str) -> None:
    now = getattr(module, name)
    if name == "SENDER" and not now._breaker._closed_again:
        return  # its connection is a good one
    first = eval(_first(module)[name], vars(module))
    if isinstance(first, threading.Event):
        now.clear()
    elif isinstance(first, (dict, set)):
        now.clear()
        now.update(first)
    elif isinstance(first, list):
        now[:] = first
    elif type(first).__module__.startswith("tasks_app."):
        vars(now).update(vars(first))
    else:
        setattr(module, name, first)


@cache
def _first(module: ModuleType) -> dict[str, CodeType]:
    """What its names are given when it is imported."""
    return {
        name: compile(ast.Expression(value), module.__file__, "eval")
        for name, value in assigned(ast.parse(Path(module.__file__).read_bytes()))
    }


def assigned(tree: ast.Module) -> list[tuple[str, ast.expr]]:
    """The names of a module, and what they are given."""
    found = []
    for one in tree.body:
        match one:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                found.append((name, value))
    return found
