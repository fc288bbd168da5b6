"""Rules about the backup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks_app.conf import conf
from tasks_app.core.said import said, said_of

from .problem import Problem, notice, span, trouble

if TYPE_CHECKING:
    from ..status import SchedulerStatus

BASE_PATIENCE = 2  # times as old as a base backup should get


def backup_behind(status: SchedulerStatus) -> Iterator[Problem]:
    """Which places they are is for operators."""
    late = [one for one in status.backups if one.late]
    if not late:
        return
    everywhere = len(late) == len(status.backups)
    known = [one.behind_seconds for one in late if one.behind_seconds is not None]
    time = span(min(known)) if known else None
    detail = "; ".join(f"{one.place}: {one.error.rstrip('.') or 'nothing arrives'}" for one in late)
    if everywhere:
        yield trouble(
            said("The database has not been backed up for {time}.", time=time)
            if known
            else said("The database is not backed up."),
            said("Is `manage.py backup stream` running? `manage.py backup` says more."),
            f"{detail}.",
        )
    else:
        words = (
            said_of(
                "A place for backups has got nothing for {time}; the others have all.",
                "{count} places for backups have got nothing for {time}; the others have all.",
                len(late),
                count=len(late),
                time=time,
            )
            if known
            else said_of(
                "A place for backups has got nothing; the others have all.",
                "{count} places for backups have got nothing; the others have all.",
                len(late),
                count=len(late),
            )
        )
        yield notice(
            words,
            said("What is missing is copied there as soon as it can be reached; `manage.py backup` says more."),
            f"{detail}.",
        )


def no_base(status: SchedulerStatus) -> Iterator[Problem]:
    """Told apart from the log: what arrives without a base restores nothing."""
    if not status.backups or all(one.late for one in status.backups):
        return
    ages = [one.base_seconds for one in status.backups if one.base_seconds is not None]
    every = conf().BACKUP_EVERY_HOURS * 3600
    if not ages:
        yield trouble(
            said("There is no base backup, so nothing could be restored."), said("Make one: `manage.py backup run`.")
        )
    elif every and min(ages) > BASE_PATIENCE * every:
        yield notice(
            said("The newest base backup is {time} old: a restore takes longer and longer.", time=span(min(ages))),
            said("`manage.py backup stream` makes them; its log says why it can't: look for backup.failed."),
        )
