"""One row of everything that has a page, of Punctual and of the shop; and people."""

from types import SimpleNamespace

from django.db.models.functions import Now

from django_punctual import Operator, ToStream, cancel_tasks, subscribe
from django_punctual.calendars import CalendarRequest, create_calendar
from tasks_app.core.roles import Role
from tasks_app.engine.operations import api_tokens
from tasks_app.engine.operations.campaigns import start_for
from tasks_app.lifecycle import members
from tasks_app.lifecycle.hosts import limit
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.recovery import begin
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.lifecycle.start import start
from tasks_app.models import AuditEntry, GraphRun, HostHealth, Membership
from tests.support.alarms import alarm_ids
from tests.support.browser import person
from tests.support.graphs import begun, family
from tests.support.jobs import make
from tests.support.moves import MONDAY, claimed, dead, scheduled
from tests.support.ready import letter_of
from tests.support.testapp.models import Counter


def a_run() -> GraphRun:
    family(child=["root"])
    return begun()


def one_of_each() -> SimpleNamespace:
    batch = claimed("in a batch")
    start(batch, "worker:1")
    [task] = scheduled("article-42", at=MONDAY)
    cancel_tasks([task], Operator("olga", "for the report of an order"))
    campaign = start_for(Verb.CANCEL, [[task]], Operator("olga", "for the page of a campaign"))
    return SimpleNamespace(
        boss=person("boss", superuser=True),
        nora=person("nora"),  # staff of the shop, without any right
        batch=batch,
        task=task,
        calendar=create_calendar(CalendarRequest("holidays"), Operator("olga", "for its page")).id,
        job=make().id,
        alarms=alarm_ids(),
        campaign=campaign.id,
        letter=letter_of(*dead("given up")),
        secret=set_secret("callbacks", Operator("olga", "for the list"), tenant="default").row.id,
        host=_host("api.example.com:8443"),
        subscription=subscribe("everything", events=["*"], to=ToStream("everything")).id,
        token=api_tokens.issue("ci", "default", Operator("olga", "for the list"))[0].id,
        operation=AuditEntry.objects.filter(verb="cancel").get().operation,
        counter=Counter.objects.create(name="orders", value=7).id,
        membership=_member(),
        recovery=begin("INC-1", Operator("olga", "for its page")).row.id,
        run=a_run().id,  # the last: it is due
    )


def _member() -> int:
    """The shop's staff, with a role in a tenant."""
    members.grant("acme", str(person("mia").pk), "mia", Role.VIEWER, Operator("olga", "for the list"))
    return Membership.objects.get(username="mia").id


def _host(host: str) -> str:
    """One that is limited, and unwell."""
    limit(host, Operator("olga", "for the list"), max_running=5)
    HostHealth.objects.create(tenant="default", host=host, tasks=[1], unwell_since=Now(), try_at=Now())
    return host
