"""People with a role in a tenant, and rows of two tenants that they see and don't see."""

import re
from typing import NamedTuple

from django.contrib.auth import get_user_model

from django_punctual import ToWebhook, schedule, subscribe
from django_punctual.calendars import CalendarRequest, create_calendar
from tasks_app.core.roles import Role
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.engine.operations.campaigns import start_matching
from tasks_app.engine.operations.members import grant
from tasks_app.engine.watch.browse import Filter
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.models import AlarmIncident, AuditEntry, Membership, OutboxEvent
from tests.support.alarms import channel, rule
from tests.support.clients import client_of
from tests.support.jobs import by, make
from tests.support.moves import dead
from tests.support.operators import operator
from tests.support.ready import letter_of


def member(role: Role | str, tenant: str = "acme", name: str = ""):
    """A user of this role, in this tenant."""
    user = get_user_model().objects.create_user(name or f"{role}-of-{tenant}", is_staff=True)
    grant(tenant, user.get_username(), role, operator())
    return user


def browser(role: Role | str, tenant: str = "acme", name: str = ""):
    return client_of(member(role, tenant, name))


class Rows(NamedTuple):
    """One of everything in a tenant, by the name that addresses have for it."""

    job_id: int
    task: int
    letter: int
    calendar_id: int
    campaign: int
    token_id: int
    member_id: int
    entry: int
    event: str
    rule_id: int
    channel_id: int
    incident_id: int
    subscription_id: int
    secret_id: int


LEAKED = re.compile(r"secret[- ](dead )?other|secret\.example\.com")


def rows_of(tenant: str) -> Rows:
    """All of them have "secret" in their names, and the tenant: LEAKED finds those of `other`."""
    job = make(f"secret {tenant}", tenant=tenant)
    task = schedule("T_QUIET", f"secret {tenant}", tenant=tenant, delay=3600).task_id
    letter = letter_of(*dead(f"secret dead {tenant}", tenant=tenant))
    calendar = create_calendar(CalendarRequest(f"secret {tenant}"), by(), tenant=tenant)
    campaign = start_matching(Verb.CANCEL, Filter(tenant=tenant), by(), selection=f"secret {tenant}")
    token, _ = issue(f"secret {tenant}", tenant, by())
    member(Role.VIEWER, tenant, f"secret-{tenant}")
    told = channel(f"secret {tenant}", tenant=tenant)
    watching = rule(f"secret {tenant}", tenant=tenant, channels=[told])
    about = {"condition": "dead", "cause": f"secret {tenant}", "task_type": "T_QUIET", "calm_at": watching.created_at}
    incident = AlarmIncident.objects.create(
        rule=watching.id, tenant=tenant, count=1, sample={"key": f"secret {tenant}"}, **about
    )
    to = ToWebhook("https://secret.example.com")
    return Rows(
        job.id,
        task,
        letter,
        calendar.id,
        campaign.id,
        token.id,
        Membership.objects.get(username=f"secret-{tenant}").id,
        AuditEntry.objects.filter(subject=f"job {job.id}").latest("id").id,
        f"{OutboxEvent.objects.filter(tenant=tenant, event='task.dead').latest('id').id}-1",
        watching.id,
        told.id,
        incident.id,
        subscribe(f"secret {tenant}", events=["*"], to=to, tenant=tenant).id,
        set_secret(f"secret-{tenant}", by(), tenant=tenant).row.id,
    )
