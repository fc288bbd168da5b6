"""Recoveries in tests: begun in a line, beside a beat that is alive or none; and time passes for one that is left."""

from datetime import datetime, timedelta

from tasks_app.engine import nodes
from tasks_app.engine.beat.leases import Leases
from tasks_app.engine.operations.recovery.steps import Course
from tasks_app.lifecycle.dead_letter import tag_letters
from tasks_app.lifecycle.limited import gate_rules
from tasks_app.lifecycle.recovery import begin
from tasks_app.models import Curb, DlqEntry, Recovery
from tasks_app.sql import execute
from tests.support.engine import claim_due
from tests.support.moves import dead
from tests.support.operators import operator


class Beat:
    """A live beat: while a recovery waits, it takes its shards and runs the tasks that no hold keeps back."""

    def __init__(self, name: str = "beat-1") -> None:
        self.node_id = nodes.new_node_id()
        self.leases = Leases(self.node_id, name, lambda told: None)
        self.ran: list[tuple[str, list[str]]] = []  # what was held when it ran something, and what that was

    def look(self, seconds: float = 0.0) -> None:
        self.leases.run_once()
        held = gate_rules().lanes
        for batch in claim_due(lanes=[lane for lane in ("critical", "high", "default", "low") if lane not in held]):
            self.ran.append((batch.lane, sorted(held)))


def course(incident: str = "INC-1", beat: Beat | None = None, **options) -> Course:
    begun = begin(incident, operator(), **options)
    return Course(
        begun.row, operator(), patience=5.0 if beat else 0.0, wait=beat.look if beat else lambda seconds: None
    )


def held() -> set[str]:
    return set(Curb.objects.filter(name="recovery").values_list("target", flat=True))


def transient(*keys: str) -> list[int]:
    tasks = dead(*keys)
    letters = list(DlqEntry.objects.filter(task_id__in=tasks).values_list("id", flat=True))
    tag_letters(letters, operator(), add=["transient_error"])
    return tasks


def no_step_for(minutes: float) -> None:
    """All that was noted of each was so long ago, or so much longer."""
    ago = timedelta(minutes=minutes)
    execute("UPDATE punctual_curb SET since = since - %s", [ago])
    for row in Recovery.objects.all():
        for told in row.steps.values():
            for name in {"begun_at", "done_at", "noted_at"} & told.keys():
                told[name] = (datetime.fromisoformat(told[name]) - ago).isoformat()
        row.save()
