"""What the API changes leaves an entry in the audit trail; and what leaves none, with the reason."""

from tasks_app.models import AuditEntry
from tests.support.schema import Operation

# Work, and no deed of an operator: events tell of it.
WITHOUT_ENTRY = {
    "preview_draft": "it changes nothing",
    "create_task": "a task was created, which is an event",
    "create_tasks": "the same",
    "progress_task": "how far a run is, told by whoever runs it",
}


def last_entry() -> int:
    return AuditEntry.objects.order_by("-id").values_list("id", flat=True).first() or 0


def refuse_untold(one: Operation, after: int) -> None:
    """A call of this operation that went well must have left an entry: by whom, from where, and about what."""
    entries = AuditEntry.objects.filter(id__gt=after)
    assert (one.id in WITHOUT_ENTRY) is not bool(entries), f"{one.id}: {list(entries)}"
    for entry in entries:
        assert entry.address == "127.0.0.1", entry
        assert entry.actor and entry.subject and entry.reason, entry
