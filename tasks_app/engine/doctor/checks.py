"""The checks: each is a rule, the statement that finds the rows that break it, and what can be done about them.

A statement is one snapshot, and the rules hold between any two transactions: what one looks at can't be half done.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tasks_app.core.errors import InvalidTask, nearest, shown
from tasks_app.lifecycle import repair

LIVE, PAST, ANYWHERE = "punctual_task", "punctual_past", "punctual_any_task"


class Check(NamedTuple):
    name: str
    rule: str
    statement: str
    mend: Callable[[Sequence[int], str], list[int]] | None  # ids and by whom; returns those that it has mended
    remedy: str  # what that does; or, if there is none, what a person does
    tables: tuple[str, ...] = (LIVE,)  # over whose ids it walks
    walks: bool = True  # False: it compares all rows with each other, in one statement

    def over(self, *, past: bool) -> tuple[str, ...]:
        """What it looks at; nothing, if it is about the past and that is not asked for."""
        if not self.walks:
            return (ANYWHERE,) if past else (LIVE,)
        return tuple(table for table in self.tables if past or table == LIVE)


CHECKS = (
    Check(
        "current",
        "a unit has exactly one current row, or its last one is over",
        "check_current",
        repair.mend_current,
        "The newest row of a unit without a current one becomes current. Of two current ones, the older gives it up; "
        "if it is live, it is cancelled.",
    ),
    Check(
        "live",
        "only a current row is live",
        "check_live",
        repair.mend_current,
        "It is cancelled, code SUPERSEDED, if a newer row of its unit is current; if none is, it becomes that.",
    ),
    Check(
        "running",
        "RUNNING means held by an unfinished batch that lists it",
        "check_running",
        repair.mend_running,
        "What is RUNNING and held by nobody is due again, as the reaper would have it; no retry is used.",
    ),
    Check(
        "away",
        "AWAY means that somebody has it, in its last run and until a time, and nobody has any other",
        "check_away",
        repair.mend_away,
        "What is AWAY and nobody has is due again; no retry is used. A lease of what is not away is deleted.",
    ),
    Check(
        "due",
        "what is to be tried has a due moment",
        "check_due",
        repair.mend_due,
        "It gets the due moment that it had; one that rolls, its interval after it last finished.",
    ),
    Check(
        "timetable",
        "what waits is where a look finds it",
        "check_timetable",
        repair.mend_timetable,
        "It waits apart from the timetable, where every look finds it.",
    ),
    Check(
        "over",
        "what is finished has no due moment",
        "check_over",
        repair.mend_over,
        "Its due moment is taken away, so it is not claimed.",
    ),
    Check(
        "letters",
        "a current DEAD row has one open dead letter, and no other row has any",
        "check_letters",
        repair.mend_letters,
        "What is DEAD and has no open letter gets one. An open letter of anything else is closed.",
    ),
    Check(
        "attempts",
        "every failure left an attempt",
        "check_attempts",
        repair.mend_attempts,
        "Its failures are counted again, from the attempts that are there. Nothing runs by that.",
        (LIVE, PAST),
    ),
    Check(
        "budget",
        "attempts stay within the budget",
        "check_budget",
        repair.mend_budget,
        "The count of its tries is set to what it can be at most.",
        (LIVE, PAST),
    ),
    Check(
        "deferred",
        "a deferred effect is known to whoever deferred it, and only a success defers",
        "check_deferred",
        repair.mend_deferred,
        "If the task that deferred it succeeded under the same token, it learns of it. Else look at both with `why`.",
        (LIVE, PAST),
    ),
    Check(
        "blocked",
        "an instance that is BLOCKED waits for its turn, or for another",
        "check_blocked",
        repair.mend_blocked,
        "It goes back into the line of its job; if that allows overlap, it is due.",
    ),
    Check(
        "waits",
        "what an instance waits for is there, unless it succeeded",
        "check_waits",
        repair.mend_waits,
        "It waits for the task that stands for that job in its run now. If there is none, cancel it, or trigger its "
        "job.",
    ),
    Check(
        "turns",
        "no two instances of a job have its turn, except those that ran when it still allowed overlap",
        "check_turns",
        repair.mend_turns,
        "The newer ones go back into the line of their job, if they do not run yet.",
    ),
    Check(
        "replaced",
        "a row is taken over by its own unit, and is not current after that",
        "check_replaced",
        repair.mend_replaced,
        "A row that was taken over and is over is current no more. Of two units, look at both rows with `why`.",
        (LIVE, PAST),
    ),
    Check(
        "replaced-once",
        "a row is taken over once",
        "check_replaced_once",
        None,
        "Nothing goes by this but the story of the unit: look at it with `why`.",
        walks=False,
    ),
    Check(
        "payload",
        "an encrypted payload in bytes is there, and its key is named beside it",
        "check_payload",
        None,
        "If an older version of Punctual lost it, only a backup has it still. Cancel the task, and schedule it anew.",
        (LIVE, PAST),
    ),
    Check(
        "place",
        "a task is in one place",
        "check_place",
        repair.mend_place,
        "What is live counts: its copy in the past is deleted. Of two copies in the past, the newer one stays.",
        (PAST,),
    ),
    Check(
        "past",
        "only what is over is in the past",
        "check_past",
        repair.mend_past,
        "It goes back among what is live, as it is, unless another row of its unit is current there, or the past has a "
        "newer copy of it or a newer current row of its unit.",
        (PAST,),
    ),
    Check(
        "sieve",
        "what a partition of the past holds is in its sieve",
        "check_sieve",
        repair.mend_sieve,
        "The sieve counts no more: everybody looks into the partition itself. A beat makes it anew within the hour.",
        (PAST,),
    ),
)
NAMES = tuple(one.name for one in CHECKS)
OF_LIVE = tuple(one for one in CHECKS if one.over(past=False))
OF_PAST = tuple(one for one in CHECKS if not one.over(past=False))  # that look at what is over, and at nothing else


def check_named(name: str) -> Check:
    """Raises InvalidTask."""
    for one in CHECKS:
        if one.name == name:
            return one
    raise InvalidTask(f"there is no check {shown(name)}; there are {', '.join(NAMES)}.{nearest(str(name), NAMES)}")
