"""The roles of PostgreSQL that keep tenants apart, and what a request is allowed to see; tasks_app.scope acts on it."""

from dataclasses import dataclass

ENGINE = "punctual_engine"  # beats, workers, and web processes outside of a scope: all rows, but no table is its own
WEB = "punctual_web"  # a request in the scope of one tenant
WEB_ALL = "punctual_web_all"  # a request of an operator, whose scope are all tenants
SETTING = "punctual.tenant"  # the tenant of the scope, for the length of a transaction

ACTOR = "punctual.actor"  # who acts, for the length of a transaction: asked_by of the tasks written in it

OPEN_POLICY = "punctual_open"  # who may use a table at all sees its rows, ...
TENANT_POLICY = "punctual_tenant"  # ... but a request only those of its tenant


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose rows a request may see."""

    role: str
    tenant: str = ""


ALL_TENANTS = Scope(WEB_ALL)


def tenant_scope(tenant: str) -> Scope:
    if not tenant:
        raise ValueError("a scope of one tenant needs its name; a request of an operator has ALL_TENANTS.")
    return Scope(WEB, tenant)
