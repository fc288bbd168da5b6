"""An audit trail that is chained and anchored, and somebody with all rights who tampers with it."""

from tasks_app.core.audit_keys import new_key
from tasks_app.engine.watch.audit_findings import Finding, Report
from tasks_app.engine.watch.audit_verify import verify
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.sealing import audit_keys
from tasks_app.sql import execute

PRIVATE, PUBLIC = new_key()


def deed(subject: str, tenant: str | None = "acme", detail: dict | None = None) -> None:
    audit(Operator("olga", "it has to be"), "cancel", [Entry(subject, "cancelled", None, detail, tenant)])


def tamper(*statements: str) -> None:
    """As a superuser does, past all triggers."""
    execute("SET LOCAL session_replication_role = replica")
    for statement in statements:
        execute(statement)
    execute("SET LOCAL session_replication_role = origin")


def findings(report: Report | None = None, **given: object) -> list[Finding]:
    return list(verify(report or Report(), audit_keys(), **given))


def found(**given: object) -> list[tuple[str, str | None, int | None]]:
    return [(one.kind, one.tenant, one.place) for one in findings(**given)]


def kinds(**given: object) -> set[str]:
    return {one.kind for one in findings(**given)}
