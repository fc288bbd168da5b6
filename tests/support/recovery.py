"""Recoveries in tests: time passes for one that nobody goes on with."""

from datetime import datetime, timedelta

from tasks_app.models import Recovery
from tasks_app.sql import execute


def no_step_for(minutes: float) -> None:
    """All that was noted of each was so long ago, or so much longer."""
    ago = timedelta(minutes=minutes)
    execute("UPDATE punctual_curb SET since = since - %s", [ago])
    for row in Recovery.objects.all():
        for told in row.steps.values():
            for name in {"begun_at", "done_at", "noted_at"} & told.keys():
                told[name] = (datetime.fromisoformat(told[name]) - ago).isoformat()
        row.save()
