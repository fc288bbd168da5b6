"""Runs of graphs as callers see them: gone through once more, with a wake-up after the commit."""

from tasks_app.conf import conf
from tasks_app.engine.wakeup import wake_on_commit
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.jobs import rerun as _rerun
from tasks_app.lifecycle.jobs.rerun import Rerun


def rerun(run_id: int, operator: Operator, *, tenant: str, from_job: str | None = None) -> Rerun:
    """From this job on, or from whatever failed first."""
    done = _rerun.rerun(run_id, operator, tenant=tenant, from_job=from_job)
    wake_on_commit(dict.fromkeys(range(conf().SHARDS), 0.0))
    return done
