"""What was done by people and tokens, page by page, as far as a caller may know of it. Reads only."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Q

from tasks_app.models import AuditEntry
from tasks_app.sql import run

STRETCH = 5_000  # entries looked at for one page


@dataclass(frozen=True, slots=True)
class AuditFilter:
    tenant: str
    shared: bool = False  # also what was done to what all tenants share, and what has no tenant yet
    types: Collection[str] | None = None  # of these only
    hidden: Collection[str] = ()  # verbs that the caller may not know of
    verb: str | None = None
    actor: str | None = None
    task_id: int | None = None
    job_id: int | None = None


def page_of_entries(wanted: AuditFilter, before: int, size: int) -> tuple[list[AuditEntry], int | None]:
    """The latest entries below this id; and the id below which there are more, though the page may be short."""
    if wanted.task_id is not None or wanted.job_id is not None:
        return _page_of_one(wanted, before, size)
    given = {
        "tenant": wanted.tenant,
        "shared": wanted.shared,
        "types": None if wanted.types is None else list(wanted.types),
        "hidden": list(wanted.hidden),
        "verb": wanted.verb,
        "actor": wanted.actor,
    }
    [(ids, floor)] = run("list_audit", given | {"before": before, "size": size, "stretch": STRETCH})
    return list(AuditEntry.objects.filter(id__in=ids or []).order_by("-id")), floor


def _page_of_one(wanted: AuditFilter, before: int, size: int) -> tuple[list[AuditEntry], int | None]:
    """Of one task or job: few, and found by an index."""
    whose = Q(tenant=wanted.tenant) | Q(tenant=None) if wanted.shared else Q(tenant=wanted.tenant)
    rows = AuditEntry.objects.filter(whose, id__lt=before).exclude(verb__in=wanted.hidden)
    for field, value in (
        ("task_id", wanted.task_id),
        ("subject", wanted.job_id and f"job {wanted.job_id}"),
        ("task_type__in", wanted.types),
        ("verb", wanted.verb),
        ("actor", wanted.actor),
    ):
        if value is not None:
            rows = rows.filter(**{field: value})
    found = list(rows.order_by("-id")[: size + 1])
    return found[:size], found[size - 1].id if len(found) > size else None
