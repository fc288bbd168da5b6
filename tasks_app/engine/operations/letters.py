"""Orders for dead letters: replay or discard one, some, those of a cause or a tag, or all that match; as a campaign."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tasks_app.core.campaigns import MOST
from tasks_app.core.errors import InvalidTask, NothingToDo
from tasks_app.database import atomic
from tasks_app.engine.watch.letters import Cause, LetterFilter, causes, count_letters, tasks_of, walk_tasks
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.dead_letter import tag_letters
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import Campaign, DlqEntry

from .campaigns import Pace, start_for

ORDERS = (Verb.REPLAY, Verb.DISCARD)
MOST_NAMED = 1_000  # letters that are given by their ids
COUNT_SECONDS = 4.0
CAUSES_SHOWN = 10


class Foreseen(NamedTuple):
    """What an order would be carried out on, as the letters are now."""

    letters: int  # that match
    complete: bool  # False: there are more, the count was given up
    taken: int  # of them, no more than the cap
    causes: list[Cause]  # the largest; empty for letters that are given by their ids


def foresee(wanted: LetterFilter, cap: int, letters: Sequence[int] | None = None) -> Foreseen:
    """Changes nothing. `letters`: of these only."""
    if letters is not None:
        found = len(tasks_of(_few(letters), wanted))
        return Foreseen(found, True, min(found, cap), [])
    count, complete = count_letters(wanted, MOST, COUNT_SECONDS)
    return Foreseen(count, complete, min(count, cap), causes(wanted, CAUSES_SHOWN).causes)


def deal_with(
    verb: Verb, wanted: LetterFilter, operator: Operator, pace: Pace, *, letters: Sequence[int] | None = None
) -> Campaign:
    """A campaign that replays or discards the tasks of the letters that match now, no more than the cap.

    NothingToDo if there is none; RetryLimited if too many such orders were given of late.
    """
    if verb not in ORDERS:
        raise InvalidTask(f"{verb!r} can't be done to dead letters; replay or discard them.")
    if letters is not None:
        found = tasks_of(_few(letters), wanted)
        if not found:
            raise NothingToDo("None of these dead letters is open any more; nothing was changed.")
        pages: Iterable[Sequence[int]] = [found]
        words = f"{len(found)} dead letters chosen one by one" if len(found) > 1 else "1 dead letter"
    else:
        pages, words = walk_tasks(wanted), wanted.words
    # With a savepoint: a caller's own transaction goes on if the order is refused.
    with atomic():
        return start_for(verb, pages, operator, pace, tenant=wanted.tenant, task_type=_type_of(wanted), selection=words)


def change_tags(
    letter: DlqEntry, operator: Operator, *, add: Iterable[str] = (), remove: Iterable[str] = ()
) -> list[str] | None:
    """The tags that the letter has now; None if it is not open any more."""
    return tag_letters([letter.id], operator, add=add, remove=remove).get(letter.id)


def _few(letters: Sequence[int]) -> Sequence[int]:
    if len(letters) > MOST_NAMED:
        raise InvalidTask(
            f"{len(letters):,} dead letters are named; at most {MOST_NAMED:,} can be. Give their cause, tag or type."
        )
    return letters


def _type_of(wanted: LetterFilter) -> str | None:
    """All of one cause have one type."""
    if wanted.task_type is not None or wanted.fingerprint is None:
        return wanted.task_type
    found = causes(LetterFilter(tenant=wanted.tenant, types=wanted.types, fingerprint=wanted.fingerprint), 1).causes
    return found[0].task_type if found else None
