"""The audit trail as most tests mean it: what was done to tasks, jobs, lanes and tokens."""

from django.db.models import QuerySet

from tasks_app.engine.web.people import VERBS
from tasks_app.models import AuditEntry


def deeds() -> QuerySet[AuditEntry]:
    """Without who came, and who got which rights: the people of a test have to be made."""
    return AuditEntry.objects.exclude(verb__in=VERBS)
