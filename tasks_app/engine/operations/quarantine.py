"""What an operator may do about the whole installation: stop it, let it go on, rehearse; and what each would do."""

from functools import partial

from tasks_app.core.errors import NothingToDo
from tasks_app.core.overdue import Answer, Preview
from tasks_app.database import atomic, on_commit
from tasks_app.engine.primaries import PRIMARIES
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle import overdue, rehearsal
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.installation import QUARANTINED, SUBJECT, Row, locked, look, read_facts, read_installation
from tasks_app.lifecycle.outbox import tell
from tasks_app.models import Installation
from tasks_app.sql import run

COUNTED = 20_000  # of each shard and limited type, for somebody who waits for a page


def enter(operator: Operator) -> None:
    """From the commit on nothing is dispatched and nobody is called. What runs goes on to its end."""
    with atomic():
        row = locked()
        if row.quarantined:
            raise NothingToDo(f"it is in quarantine already, by {row.changed_by}: {row.reason} Nothing was changed.")
        Installation.objects.update(
            state=Installation.QUARANTINED,
            reason=operator.reason,
            changed_by=operator.name,
            since=run("clock", {})[0][0],
        )
        tell(QUARANTINED, {"reason": operator.reason, "by": operator.name})
        audit(operator, "quarantine", [Entry(SUBJECT, "quarantined")])


def resume(answer: Answer, operator: Operator) -> Row:
    """Out of quarantine or a rehearsal: this database is the installation's. Or on with what is held."""
    look()  # no beat may have seen yet that it is another server: after pg_upgrade, say
    facts = read_facts()
    row = overdue.go_on(answer, operator, facts)
    on_commit(partial(PRIMARIES.accept, facts, row))
    on_commit(SENDER.wake_all)
    return row


def rehearse(operator: Operator) -> None:
    """Tasks go to workers, and no handler is called, until somebody resumes or quarantines it again."""
    look()
    rehearsal.rehearse(operator, read_facts())
    on_commit(SENDER.wake_all)


def preview(older_seconds: float | None = None, most: int = COUNTED) -> Preview:
    """What is overdue, by lane, and with it what each choice would do."""
    return overdue.preview(read_installation(), older_seconds=older_seconds, most=most)
