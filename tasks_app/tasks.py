"""Celery's entry points; no decisions here."""

from uuid import UUID

from celery import shared_task

from .engine.envelope import RUN_BATCH
from .engine.worker import process  # noqa: F401  (connects the worker's signals)
from .engine.worker.executor import run_batch as execute_batch


@shared_task(name=RUN_BATCH, ignore_result=True)
def run_batch(batch_no: str) -> None:
    execute_batch(UUID(batch_no))
