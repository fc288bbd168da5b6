"""One row of everything that has a page, of Punctual and of the shop; and people."""

from types import SimpleNamespace

from tasks_app.client import Operator, cancel_tasks
from tasks_app.engine.operations import api_tokens
from tasks_app.lifecycle.start import start
from tasks_app.models import AuditEntry
from tests.support.alarms import alarm_ids
from tests.support.browser import person
from tests.support.jobs import make
from tests.support.moves import MONDAY, claimed, scheduled
from tests.support.testapp.models import Counter


def one_of_each() -> SimpleNamespace:
    batch = claimed("in a batch")
    start(batch, "worker:1")
    [task] = scheduled("article-42", at=MONDAY)
    cancel_tasks([task], Operator("olga", "for the report of an order"))
    return SimpleNamespace(
        boss=person("boss", superuser=True),
        nora=person("nora"),  # staff of the shop, without any right
        batch=batch,
        task=task,
        job=make().id,
        alarms=alarm_ids(),
        token=api_tokens.issue("ci", "default", Operator("olga", "for the list"))[0].id,
        operation=AuditEntry.objects.filter(verb="cancel").get().operation,
        counter=Counter.objects.create(name="orders", value=7).id,
    )
