"""What safeguards hold back, for those who would begin something: backfills and triggers are refused at the door.

What is dispatched is held back by the gates and brakes of the beats.
"""

from collections.abc import Sequence, Set

from tasks_app.core.errors import Degraded, RetryLimited
from tasks_app.core.recovery import CURB as RECOVERY
from tasks_app.core.safeguards import FIRES_ON, Kind
from tasks_app.core.scopes import EVERYTHING
from tasks_app.models import Curb, JobDefinition


def refuse_triggers(lane: str) -> None:
    """Degraded if only critical work fires, and this is none."""
    if lane != FIRES_ON and Curb.objects.filter(kind=Kind.TRIGGERS).exists():
        raise Degraded(
            f"Too many tasks give up: only work in lane {FIRES_ON!r} fires until that is over, and this would run in "
            f"{lane!r}. Nothing was triggered; try again later."
        )


def refuse_backfills(jobs: Sequence[int], tenant: str, along: Set[str] = frozenset()) -> None:
    """RetryLimited if a safeguard holds back this tenant's backfills of one of these jobs, or of the types that are
    included with them, or a recovery all backfills."""
    found = Curb.objects.filter(kind=Kind.BACKFILLS, of_tenant__in=("", tenant))
    curbs = list(found.values_list("name", "subject", "target"))
    if not curbs:
        return
    for name, subject, _ in curbs:
        if name == RECOVERY:
            raise RetryLimited(
                f"Incident {subject} is being recovered from, so no backfill is begun. Wait until that is done, or see "
                f"`manage.py recover {subject}`."
            )
    held = {target for *_, target in curbs}
    types = set(JobDefinition.objects.filter(id__in=list(jobs)).values_list("task_type", flat=True))
    stopped = sorted((types | along) & held) or (sorted(types) if EVERYTHING in held else [])
    if stopped:
        raise RetryLimited(
            f"Too many tries of {', '.join(stopped)} fail at the moment, so no backfill of it is begun. Check why "
            "they fail, or try again when they succeed."
        )
