"""What can be done to the keys of a tenant: rotate them, and destroy them for good."""

from tasks_app.core.errors import InvalidTask, NothingToDo, NotThere
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.database import atomic
from tasks_app.models import TenantKey
from tasks_app.sql import run

from .audit import Entry, Operator, audit
from .data_keys import make_key
from .key_walk import order_walk
from .outbox import tell


def rotate(tenant: str, operator: Operator) -> TenantKey:
    """A new key for what is written from now on. The old ones still open what they have encrypted."""
    if tenant == INTERNAL_TENANT:
        raise InvalidTask(f"tenant {tenant!r} has the scheduler's own tasks, which have nothing to hide.")
    with atomic(savepoint=False):
        old = list(TenantKey.objects.select_for_update().filter(tenant=tenant).order_by("id"))
        TenantKey.objects.filter(tenant=tenant, encrypts=True).update(encrypts=False)
        made = make_key(tenant, operator.name)
        detail = {"key": made.id, "before": old[-1].id if old else None}
        audit(operator, "rotate", [Entry(f"key of {tenant}", "rotated", tenant=tenant, detail=detail)])
        tell("tenant.key_rotated", {"name": tenant, "by": operator.name, "key": made.id}, tenant=tenant)
        order_walk(operator)
    return made


def destroy(tenant: str, operator: Operator) -> int:
    """All keys of the tenant are gone, for good: nothing that they have encrypted can be read again. How many there
    were."""
    with atomic(savepoint=False):
        rows = TenantKey.objects.select_for_update().filter(tenant=tenant).order_by("id")
        if not rows:
            raise NotThere(f"tenant {tenant!r} has no key: nothing of it was encrypted.")
        there = [row.id for row in rows if row.destroyed_at is None]
        if not there:
            raise NothingToDo(f"the keys of tenant {tenant!r} were destroyed before.")
        now = run("clock", {})[0][0]
        TenantKey.objects.filter(id__in=there).update(
            sealed="", encrypts=False, destroyed_at=now, destroyed_by=operator.name
        )
        entry = Entry(f"key of {tenant}", "destroyed", tenant=tenant, detail={"keys": there})
        audit(operator, "destroy", [entry])
        tell("tenant.key_destroyed", {"name": tenant, "by": operator.name, "keys": there}, tenant=tenant)
    return len(there)
