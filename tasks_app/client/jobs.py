"""Jobs: rules that fire by a schedule. All of it happens in the caller's transaction."""

from tasks_app.core.errors import Degraded, FiringClaimed, HasChildren, NameTaken, StaleRevision, UnknownJob
from tasks_app.engine.operations.jobs import (
    create_job,
    delete_job,
    edit_job,
    move_firing,
    pause_job,
    restore_firing,
    resume_job,
    skip_firing,
    trigger_job,
)
from tasks_app.lifecycle.jobs.declared import Declaration
from tasks_app.lifecycle.jobs.request import JobRequest

__all__ = [
    "Declaration",
    "Degraded",
    "FiringClaimed",
    "HasChildren",
    "JobRequest",
    "NameTaken",
    "StaleRevision",
    "UnknownJob",
    "create_job",
    "delete_job",
    "edit_job",
    "move_firing",
    "pause_job",
    "restore_firing",
    "resume_job",
    "skip_firing",
    "trigger_job",
]
