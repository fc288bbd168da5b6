"""A Celery app such as a project has beside Punctual's, with options that would break a promise if they were ours."""

import os

from celery import Celery, shared_task

QUEUE = "mails"


def broker_url() -> str:
    return os.environ.get("REDIS_URL", "redis://nowhere").replace("unix://", "redis+socket://")


app = Celery("project", broker=broker_url())
app.conf.update(
    task_acks_late=True,
    task_time_limit=1,
    task_soft_time_limit=0.5,
    task_serializer="pickle",
    task_default_queue=QUEUE,
    worker_pool="threads",
    worker_max_tasks_per_child=1,
)


@shared_task(name="project.mail")
def mail(to: str) -> None:
    """Never run here; its message lies in the project's own queue."""


@app.task(name="project.own")
def own() -> str:
    return app.main
