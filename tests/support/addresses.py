"""The addresses of the operator's pages, from their own URLconf, so that a new page can't be forgotten."""

import re
from collections.abc import Iterator

from django.urls import URLPattern

from tasks_app.console.site import ConsoleSite, console
from tasks_app.models import AuditEntry, OutboxEvent

AT = "/ops/punctual"  # where the shop has the console
# What is sent by a form or answers to a program, and Django's forms, of which we have none.
NO_PAGE = re.compile(
    "login|language|search|tenant|autocomplete|view_on_site|.*_(delete|history|test)"
    "|punctual_(order|run|saved_(add|remove)|job_draft(_of)?|job_bulk|letter_(order|run|tags)"
    "|(scheduletask|taskbatch|auditentry|campaign|graphrun|dlqentry|recovery)_add)"
)


def console_addresses(rows) -> list[tuple[str, str]]:
    """Every address of the console, from its own URLconf, but for the way out and the stream, which has no end."""
    values = {
        "scheduletask": rows.task,
        "jobdefinition": rows.job,
        "taskbatch": rows.batch,
        "campaign": rows.campaign,
        "graphrun": rows.run,
        "run_id": rows.run,
        "dlqentry": rows.letter,
        "recovery": rows.recovery,
        "subscription": rows.subscription,
        "secret_id": rows.secret,
        "host": rows.host,
        "tenant": "default",
        "page": "admin",
        "auditentry": AuditEntry.objects.latest("id").id,
        "event_id": f"{OutboxEvent.objects.latest('id').id}-1",
        "operation": rows.operation,
        "calendar": rows.calendar,
        "job_id": rows.job,
        "token_id": rows.token,
        "membership": rows.membership,
        "lane": "default",
        "node": "worker:1",
        "app_label": "punctual",
        "content_type_id": 1,
    } | rows.alarms
    found = []
    for where, one in admin_pages(f"{AT}/"):
        model = where.removeprefix(f"{AT}/punctual/").partition("/")[0]
        verb = "skip" if "/firing/" in where else "trigger" if model == "jobdefinition" else "pause"
        known = values | {"verb": verb}
        if model == "safeguard":
            known |= {"name": "delay", "verb": "force"}
        if model == "node":
            known |= {"verb": "drain"} if "worker" in where else {}
        if model == "installation":
            known |= {"verb": "resume"}
        value = lambda found, of=model, known=known: str(known.get(found[1]) or known.get(of, 1))  # noqa: E731
        if one.name not in ("logout", "stream", None):
            found.append((re.sub(r"<(?:\w+:)?(\w+)>", value, where), one.name))
    return found


def admin_pages(at: str) -> Iterator[tuple[str, URLPattern]]:
    """Every address of a console with nothing but Punctual's models, which is mounted there."""
    site = ConsoleSite("punctual")
    for model, pages in console()._registry.items():
        if model._meta.app_label == "punctual":
            site.register(model, type(pages))
    yield from _below(site.get_urls(), at)


def _below(patterns: list, at: str) -> Iterator[tuple[str, URLPattern]]:
    for one in patterns:
        where = at + re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", str(one.pattern)).replace("^", "").replace("$", "")
        if isinstance(one, URLPattern):
            yield where, one
        else:
            yield from _below(one.url_patterns, where)
