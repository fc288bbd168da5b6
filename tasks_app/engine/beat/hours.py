"""The chore `hours`: figures of minutes become figures of hours, which are kept for a month.

An hour is summed up ten minutes after its end. Before that its minutes are compared with what really finished in them,
and so are those of the two hours before: what was committed late is in none of the minutes until then. All of this can
be done twice, by two beats at once, or by half: the row of an hour is written last, and nothing is replaced by less.
"""

from datetime import datetime, timedelta

from tasks_app.core.retention import KEEP_HOURS_DAYS
from tasks_app.core.tenants import CANARY
from tasks_app.sql import run

from .roll_up import roll_up

LATE_SECONDS = 600.0  # after its end an hour is summed up
LOOK_BACK = timedelta(hours=2)  # before the newest hour, for what was committed later than that
MOST = 24  # hours in one step
STEPS = 40  # in one run: more than are kept


def keep_hours() -> str:
    """Returns what it did, for the log."""
    roll_up()
    hours = mended = 0
    for _ in range(STEPS):
        found = run("hours_to_roll_up", {"most": MOST, "keep": KEEP_HOURS_DAYS * 24, "late": LATE_SECONDS})
        if not found:
            break
        ((since, until, newest),) = found
        back = since - LOOK_BACK
        if until == newest:
            # What was left behind by a long time without beats was rolled up late enough to have all of it.
            mended += mend_minutes(max(back, newest - timedelta(hours=1) - LOOK_BACK), until)
        hours += len(run("roll_up_hours", {"back": back, "since": since, "until": until, "type": CANARY}, long=True))
    return f"{hours} hours, {mended} minutes mended"


def mend_minutes(since: datetime, until: datetime) -> int:
    late = run("late_minutes", {"since": since, "until": until}, long=True)
    for (minute,) in late:
        run("mend_minute", {"minute": minute}, long=True)
    return len(late)
