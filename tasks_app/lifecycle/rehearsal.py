"""A rehearsal: tasks go all the way to a worker, which puts them aside instead of calling their handlers."""

from uuid import UUID

from tasks_app.core.errors import NothingToDo
from tasks_app.core.installation import Facts
from tasks_app.core.states import NEVER
from tasks_app.database import atomic
from tasks_app.models import Installation
from tasks_app.sql import run

from .audit import Entry, Operator, audit
from .installation import SUBJECT, locked, note_adopted
from .outbox import tell


def rehearse(operator: Operator, facts: Facts) -> None:
    """From the commit on tasks are dispatched, and no handler is called. Only out of quarantine: in an installation
    that works, tasks would wait for as long as it lasts."""
    with atomic():
        row = locked()
        if not row.quarantined:
            raise NothingToDo("only an installation in quarantine can rehearse; this one is not. Nothing was changed.")
        Installation.objects.update(
            state=Installation.REHEARSING,
            reason=operator.reason,
            changed_by=operator.name,
            since=run("clock", {})[0][0],
        )
        note_adopted(facts)
        tell("installation.rehearsing", {"reason": operator.reason, "by": operator.name})
        audit(operator, "rehearse", [Entry(SUBJECT, "rehearsing")])


def rehearse_batch(batch_no: UUID) -> int:
    """In a rehearsal, put the tasks of a batch aside that has come to a worker. Returns how many; 0: there is none."""
    return len(run("rehearse_batch", {"batch_no": batch_no, "never": NEVER}))


def put_back(size: int) -> int:
    """Some of what was put aside is due when it was before; returns how many were done with. Call it in a transaction
    that has locked the installation after the rehearsal has ended."""
    done: int = run("put_back", {"size": size, "never": NEVER})[0][0]
    return done
