"""A scope: one tenant's tasks of one type, or its calls of one endpoint host. A safeguard holds back the scope that
fails."""

from typing import NamedTuple

TENANT = "tenant:"  # begins a subject that is a scope
EVERYTHING = "*"  # as a target: all types of the tenant
HELD_BACK = "HELD_BACK"  # the code of a task that waits for a safeguard of its scope


class Scope(NamedTuple):
    tenant: str
    target: str  # a task type, host: and an endpoint host, or *

    @property
    def subject(self) -> str:
        return f"{TENANT}{self.tenant}/{self.target}"


def scope_of(subject: str) -> Scope | None:
    """The scope that a subject names; None: it names a type, a host or everything."""
    if not subject.startswith(TENANT):
        return None
    tenant, slash, target = subject.removeprefix(TENANT).rpartition("/")  # no type and no host has a slash
    return Scope(tenant, target) if tenant and slash and target else None


def target_of(subject: str) -> str:
    """The type or host in a subject, without its tenant."""
    scope = scope_of(subject)
    return scope.target if scope else subject
