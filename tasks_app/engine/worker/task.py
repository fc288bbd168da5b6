"""The one task of Punctual's Celery app; no decisions here."""

import logging
from uuid import UUID

from tasks_app.core.tenants import CANARY
from tasks_app.engine.celery_app import app
from tasks_app.engine.envelope import RUN_BATCH

from . import process  # noqa: F401  (connects the worker's signals)
from .executor import run_batch as execute_batch

log = logging.getLogger(__name__)


# Not shared: it is no task of the project's own app.
@app.task(name=RUN_BATCH, ignore_result=True, shared=False)
def run_batch(batch_no: str) -> None:
    done = execute_batch(UUID(batch_no))
    if done.taken and not done.open and done.task_type != CANARY:
        log.info("batch.done batch=%s type=%s tasks=%d", batch_no, done.task_type, done.tasks)
