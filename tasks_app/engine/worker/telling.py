"""What runs tell of themselves goes to the database. It is a hint: whatever goes wrong here is a line in the log."""

import logging
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import DatabaseError, InterfaceError

from tasks_app.core.confidential import own_words
from tasks_app.core.contact import Contact, News, Report
from tasks_app.core.progress import in_words
from tasks_app.core.task import SUCCEEDED, GoneAway, Succeeded
from tasks_app.database import atomic, our_connection
from tasks_app.libraries.django import in_transaction
from tasks_app.lifecycle.logs import Lines, keep_logs
from tasks_app.lifecycle.progress import Told, forget_progress, tell_progress
from tasks_app.lifecycle.settle import Settled
from tasks_app.sql import run as run_sql

log = logging.getLogger(__name__)

LOCK_MS, STATEMENT_MS = "500", "2000"  # a heartbeat may have to wait for it


def tell(batch_no: UUID, reports: Iterable[Report]) -> None:
    """What is new in these, in one transaction; nothing, if nothing is."""
    found = [(report, news) for report in reports if (news := report.news()) is not None]
    if not found:
        return
    for report, news in found:
        report.shown = report.shown or news.progress is not None
    if _written(batch_no, found, ()):
        for report, news in found:
            report.note_told(news)


def tell_last(batch_no: UUID, contact: Contact, settled: Sequence[Settled]) -> None:
    """These runs are over: their lines are kept, and how far they were is forgotten.

    It says something only of one that did not get to its end, so there it is a line too. The run of one that is away
    goes on elsewhere: how far it is stays.
    """
    over = []
    for one in settled:
        report = contact.reports.pop(one.task.id, None)
        if report is None:
            continue
        if isinstance(one.outcome, GoneAway):
            report.shown = False
        elif report.how_far is not None and not (one.outcome is SUCCEEDED or isinstance(one.outcome, Succeeded)):
            report.log(f"It had got to: {in_words(*report.how_far)}")
        over.append(report)
    if over:
        _close(batch_no, over)


def tell_rest(batch_no: UUID, contact: Contact) -> None:
    """Of runs without an outcome that can't be waited for, what they have said so far."""
    reports = [contact.reports.pop(task_id) for task_id in list(contact.reports)]
    _close(batch_no, reports)


def _close(batch_no: UUID, reports: Sequence[Report]) -> None:
    _written(
        batch_no,
        [(report, News(None, lines)) for report in reports if (lines := report.lines)],
        [report.task_id for report in reports if report.shown],
    )


def _written(batch_no: UUID, found: Sequence[tuple[Report, News]], forgotten: Sequence[int]) -> bool:
    told = [_progress(report, news) for report, news in found if news.progress is not None]
    logs = [_lines(report, news) for report, news in found if news.lines]
    if not (told or logs or forgotten):
        return True
    connection = our_connection()
    nested = in_transaction(connection)  # in a test's transaction, where limits would stay
    try:
        with atomic():
            if not nested:
                run_sql("hurry", {"lock_ms": LOCK_MS, "ms": STATEMENT_MS})
            if told:
                tell_progress(batch_no, sorted(told))
            if logs:
                keep_logs(batch_no, logs)
            forget_progress(forgotten)
        return True
    except (DatabaseError, InterfaceError) as error:
        log.warning("run.untold batch=%s error=%r", batch_no, str(error).strip())
        if not nested:
            connection.close()
        return False


def _progress(report: Report, news: News) -> Told:
    """Of a task that is encrypted, how far it is, without its words."""
    fraction, note = news.progress or (None, "")
    return Told(report.task_id, fraction, note if report.cipher is None else "")


def _lines(report: Report, news: News) -> Lines:
    dropped, cipher = news.lines[0].number, report.cipher
    hide = own_words if cipher is None else cipher.line
    return Lines(report.task_id, report.attempt, dropped, [(one.at, one.level, hide(one.text)) for one in news.lines])
