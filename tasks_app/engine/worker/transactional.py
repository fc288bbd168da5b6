"""Handlers whose effects are in this database: effects and settle are one transaction, so they happen exactly once.

Lock order: business rows first (the handler's), then the batch row, then task rows. If a task is no longer ours when
its turn to settle comes, everything is rolled back and done once more without it.
"""

import logging
import random
import re
import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import DatabaseError, InterfaceError
from django.db.transaction import get_rollback
from psycopg.pq import TransactionStatus

from tasks_app.core.away import Away
from tasks_app.core.deferral import DEFERRING
from tasks_app.core.errors import UnrecoverableError
from tasks_app.core.result import Result
from tasks_app.core.task import SUCCEEDED, Failure, Outcome, Returned, Task
from tasks_app.database import atomic, leave_other_databases, our_connection
from tasks_app.libraries.django import in_transaction, was_closed_in_transaction
from tasks_app.lifecycle.settle import BatchLost, Settled
from tasks_app.lifecycle.start import still_ours
from tasks_app.sql import run as run_sql

from . import writes
from .batch_run import BatchRun
from .faults import AGAIN_SECONDS, IDLE_TOO_LONG, is_infrastructure_fault, is_lock_fault, sqlstate
from .interruption import SHUTDOWN, Interrupted, MainThreadInterrupter
from .modes import answers_in, outcome_in
from .outcomes import outcome_of, refuse_unrun
from .results import returned

log = logging.getLogger(__name__)

# Deadlocks, serialization failures and lost connections in a row before the tasks are put back.
FAULTS = 8

ENDED_TRANSACTION = "ENDED_TRANSACTION"
ENDED_WORDS = (
    "the handler committed or rolled back the transaction it was called in; a transactional handler must leave that "
    "to the scheduler"
)
# Also behind comments; but not ROLLBACK TO SAVEPOINT, which ends nothing. A comment that was read is not tried again.
_ENDS_TRANSACTION = re.compile(
    r"(?:\s++|--[^\n]*+\n|(?>/\*.*?\*/))*+"
    r"(?:COMMIT|END|ABORT|PREPARE\s+TRANSACTION|ROLLBACK(?!\s+(?:(?:WORK|TRANSACTION)\s+)?TO\b))\b",
    re.IGNORECASE | re.DOTALL,
)


class EffectsRun:
    """One go after the other at the same tasks, until effects and outcomes are committed together."""

    def __init__(
        self, run: BatchRun, interrupter: MainThreadInterrupter, call: Callable[..., Any], *, vectorised: bool
    ) -> None:
        self._run = run
        self._interrupter = interrupter
        self._call = call
        self._vectorised = vectorised
        self._decided: dict[int, Outcome] = {}  # outcomes that stand whatever the next go does
        self._careful = False  # one savepoint a task: only after an error, so that a good batch pays nothing
        self._now: list[Task] = []  # what the call in progress is about
        self._fault: Exception | None = None  # the last that the database raised in the call in progress
        self._connection = our_connection()  # of this thread, in which all of it happens
        self._nested = in_transaction(self._connection)

    def execute(self, tasks: list[Task], *, finish: bool) -> None:
        """Effects of `tasks`, their outcomes and those noted before, in one transaction; or none of it."""
        faults = 0
        before = {task.id: task.deferred for task in tasks if task.deferred} if self._defers() else {}
        while not self._run.lost:
            if self._defers():
                for task in tasks:  # what a go has deferred is undone with it
                    task.deferred = before.get(task.id, ())
            tasks = [task for task in tasks if task.id not in self._run.gone]
            self._run.done += self._run.taken_back()
            earlier = [one for one in self._run.done if one.task.id not in self._run.gone]
            fault: Exception | None = None
            try:
                self._go(tasks, earlier, finish)
                return
            except _RolledBack as undone:
                fault = undone.remedy(tasks, earlier)
            except BatchLost:
                self._run.lost = True
            except _Lapsed:
                self._leave_undone(tasks)
                return
            except Interrupted as reason:
                self._end_session()
                self._blame_interruption(reason, tasks)
            except (DatabaseError, InterfaceError) as error:
                if not is_infrastructure_fault(error):
                    raise
                fault = error
            if fault is None:
                continue
            faults += 1
            if faults == FAULTS:
                self._put_back(tasks, fault)
                return
            self._wait(fault, faults)

    def _go(self, tasks: list[Task], earlier: list[Settled], finish: bool) -> None:
        run = self._run
        with atomic():
            # psycopg begins with the first statement. This one is ours, so that a transaction which is not open
            # after a handler's call was ended by the handler. It asks the server, since a pooler makes up its own pids.
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                run.backend_pid = cursor.fetchone()[0]
            with self._connection.execute_wrapper(self._watch), writes.kept_back():
                outcomes = self._call_all(tasks)
            settled = earlier + [run.settled(task, outcomes[task.id]) for task in tasks]
            if settled:
                moved = run.write(settled, finish=finish)
                if moved < len(settled):
                    if not self._moved_by_ourselves(settled):
                        raise _RolledBack(self._without_the_gone)
                    if len(settled) > 1:
                        raise _RolledBack(self._each_alone)
        run.note_written(settled, finished=finish and bool(settled))

    def _defers(self) -> bool:
        return self._run.batch.task_type in DEFERRING

    def _carefully(self, tasks: list[Task], earlier: list[Settled]) -> None:
        """A call failed: with a savepoint for each task, only that task's effects are undone."""
        self._careful = True
        leave_other_databases()  # one that broke would fail every task

    def _connect_anew(self, tasks: list[Task], earlier: list[Settled]) -> None:
        """The transaction was ended or broken inside a call, and the outcome of that is decided."""
        self._connection.close()

    def _each_alone(self, tasks: list[Task], earlier: list[Settled]) -> None:
        """Was the one that was moved called before or after? Alone there is no such question."""
        words = "a handler moved a task of its own batch in its transaction; now each is tried alone"
        self._decided = {task.id: Returned("MOVED_A_NEIGHBOUR", words, solo=True) for task in tasks}

    def _without_the_gone(self, tasks: list[Task], earlier: list[Settled]) -> Exception | None:
        """Go on without what others took from us."""
        everyone = {task.id for task in tasks} | {one.task.id for one in earlier}
        taken = everyone - still_ours(self._run.batch.batch_no, sorted(everyone))
        self._run.gone |= taken
        if taken:
            return None
        # Nobody took any, and yet we could not see that from outside: perhaps we can't connect.
        fault: Exception = InterfaceError("tasks that are still ours could not be settled")
        return fault

    def _wait(self, fault: Exception, faults: int) -> None:
        batch = self._run.batch
        log.warning("effects.again batch=%s type=%s error=%r", batch.batch_no, batch.task_type, str(fault).strip())
        if not is_lock_fault(fault):
            self._connection.close()
            leave_other_databases()  # it may have been the connection to one of them
        time.sleep(random.uniform(0.005, 0.02) * 2**faults)

    def _moved_by_ourselves(self, settled: list[Settled]) -> bool:
        """Settle missed some. Whether only a handler of this very transaction has moved them, as it may.

        Then everybody else still sees them all as ours; and since we hold their locks, that stays so until we commit.
        """
        everyone = {one.task.id for one in settled}
        if self._nested:
            return True  # a test runs us inside its own transaction; there is nobody else
        seen: set[int] = set()

        def look() -> None:
            try:
                seen.update(still_ours(self._run.batch.batch_no, sorted(everyone)))
            except (DatabaseError, InterfaceError) as error:
                batch = self._run.batch
                log.warning(
                    "effects.unseen batch=%s type=%s error=%r", batch.batch_no, batch.task_type, str(error).strip()
                )
            finally:
                our_connection().close()

        outside = threading.Thread(target=look)  # a thread has a connection of its own
        outside.start()
        outside.join()
        return everyone <= seen

    def _put_back(self, tasks: list[Task], error: Exception) -> None:
        """Locks fought over again and again are no fault of these tasks: due again soon, no retry used."""
        batch = self._run.batch
        log.error(
            "effects.put_back batch=%s type=%s tasks=%d error=%r",
            batch.batch_no,
            batch.task_type,
            len(tasks),
            str(error),
        )
        self._connection.close()
        for task in tasks:
            self._run.end(task, Returned("INFRASTRUCTURE", str(error), delay=AGAIN_SECONDS))

    def _leave_undone(self, tasks: list[Task]) -> None:
        """All was rolled back, so these tasks count as never begun: due again, if the batch is still ours."""
        for task in tasks:
            self._run.end(task, Returned())

    def _refuse_if_lapsed(self) -> None:
        # What is only applied was called in time, and stands or falls with the settle in the same transaction.
        if self._run.handler.apply is None and self._run.lapsed:
            raise _Lapsed

    def _call_all(self, tasks: list[Task]) -> dict[int, Outcome]:
        outcomes = {task.id: self._decided[task.id] for task in tasks if task.id in self._decided}
        todo = [task for task in tasks if task.id not in outcomes]
        if self._careful:
            for task in todo:
                self._refuse_if_lapsed()
                outcomes[task.id] = self._call_carefully(task)
        elif self._vectorised:
            if todo:
                self._refuse_if_lapsed()
                outcomes |= self._call_together(todo)
        else:
            for task in todo:
                self._refuse_if_lapsed()
                answer = self._call_plainly([task], task)
                outcomes[task.id] = SUCCEEDED if answer is None else returned(task, answer)
            self._plainly(writes.send)
        return outcomes

    def _call_together(self, todo: list[Task]) -> dict[int, Outcome]:
        answer = self._call_plainly(todo, todo)
        self._plainly(writes.send)
        try:
            said = answers_in(answer, todo)
        except TypeError:
            raise _RolledBack(self._carefully) from None
        return {task.id: outcome_in(said, task) for task in todo}

    def _call_plainly(self, about: list[Task], argument: Any) -> Any:
        return self._plainly(lambda: self._interruptible(about, argument))

    def _plainly(self, action: Callable[[], Any]) -> Any:
        try:
            answer = action()
            if get_rollback(self._connection.alias) or self._status() != TransactionStatus.INTRANS:
                raise _RolledBack(self._carefully)  # aborted or ended: the careful go tells which
            return answer
        except (Interrupted, DatabaseError, InterfaceError) as error:
            if isinstance(error, Interrupted) or self._is_no_fault_of_the_handler(error):
                raise
            raise _RolledBack(self._carefully) from error
        except BaseException as error:
            raise _RolledBack(self._carefully) from error

    def _call_carefully(self, task: Task) -> Outcome:
        self._fault, ended = None, False
        try:
            with atomic():
                writes.drop()  # of a task before it that failed
                try:
                    answer = self._interruptible([task], [task] if self._vectorised else task)
                finally:
                    ended = self._status() == TransactionStatus.IDLE  # a rollback to the savepoint would begin another
                writes.send()
                if self._vectorised:
                    answer = _value_or_raise(answers_in(answer, [task]).get(task.id))
                if get_rollback(self._connection.alias) or self._status() == TransactionStatus.INERROR:
                    raise RuntimeError("the handler caught a database error inside its transaction and carried on")
                if ended:
                    raise RuntimeError(ENDED_WORDS)
        except Interrupted:
            raise
        except (DatabaseError, InterfaceError) as error:
            if self._is_no_fault_of_the_handler(error):
                raise
            return self._failed(task, error, ended=ended)
        except BaseException as error:
            return self._failed(task, error, ended=ended)
        return returned(task, answer)

    def _failed(self, task: Task, error: BaseException, *, ended: bool) -> Outcome:
        """What the failed call came to if its savepoint was rolled back; raises if the whole transaction has to be.

        Django says nothing when a rollback to a savepoint fails, it only refuses every statement after that.
        """
        if not get_rollback(self._connection.alias):
            return outcome_of(error)
        if self._fault is not None and sqlstate(self._fault) == IDLE_TOO_LONG:
            self._decided[task.id] = Failure("IDLE_IN_TRANSACTION", str(self._fault).strip())
        elif ended or was_closed_in_transaction(self._connection):
            self._decided[task.id] = Failure(ENDED_TRANSACTION, ENDED_WORDS, final=True)
        elif self._status() == TransactionStatus.UNKNOWN:
            # The failure may well be a consequence. It can't be written here in any case, so all of it is done again.
            raise InterfaceError(f"the connection was lost in a call that failed with {error!r:.200}") from None
        else:
            self._decided[task.id] = outcome_of(error)  # the handler took the savepoint away
        raise _RolledBack(self._connect_anew) from error

    def _watch(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
        """Refuse what ends the transaction, before it happens: a COMMIT would make the effects of the batch's other
        tasks stand, and then they run again. And note what the database raises, which the handler may catch."""
        if _ENDS_TRANSACTION.match(str(sql)):
            raise UnrecoverableError(ENDED_WORDS, code=ENDED_TRANSACTION)
        try:
            return execute(sql, params, many, context)
        except (DatabaseError, InterfaceError) as error:
            self._fault = error
            raise

    def _interruptible(self, about: list[Task], argument: Any) -> Any:
        self._now = about
        self._run.calling = about[0] if len(about) == 1 else None
        begun = self._run.begun
        for task in about:
            if task.id not in begun:
                begun[task.id] = time.monotonic()
        self._interrupter.enter()
        try:
            answer = self._call(argument)
            if answer is not None:
                refuse_unrun(answer)
            return answer
        finally:
            self._interrupter.leave()

    def _blame_interruption(self, reason: Interrupted, tasks: list[Task]) -> None:
        if len(self._now) == 1:
            self._decided[self._now[0].id] = outcome_of(reason)
        if reason.code == SHUTDOWN:
            # No time for another go. What the others had done is rolled back, so they are as good as never begun.
            returned: dict[int, Outcome] = {task.id: Returned() for task in tasks}
            self._decided = returned | self._decided
        # One call for many: the careful go tries them one by one and finds the slow one.
        self._careful = True

    def _is_no_fault_of_the_handler(self, error: BaseException) -> bool:
        """A lock fault, or our database was lost; but not a connection that the handler closed itself, nor an error of
        some other database."""
        if not is_infrastructure_fault(error) or was_closed_in_transaction(self._connection):
            return False
        return is_lock_fault(error) or error is self._fault or self._connection.connection.closed

    def _status(self) -> int:
        """Asked after every call, so by the short way: no object is made for the answer."""
        status: int = self._connection.connection.pgconn.transaction_status
        return status

    def _end_session(self) -> None:
        """An interrupted statement may still run on the server: end it, or its locks stay."""
        self._connection.close()
        if self._run.backend_pid is not None:
            run_sql("end_session", {"pid": self._run.backend_pid})


def _value_or_raise(said: BaseException | Result | None) -> object:
    if isinstance(said, Away):
        return said  # no failure: what was written for it stays
    if isinstance(said, BaseException):
        raise said
    return None if said is None else said.value


class _Lapsed(Exception):
    """The lease ended before a call: the transaction is rolled back, and nothing else is called."""


class _RolledBack(Exception):
    """Rolls a go back. `remedy` changes how the next one goes, and returns a fault if it found nothing to change."""

    def __init__(self, remedy: Callable[[list[Task], list[Settled]], Exception | None]) -> None:
        self.remedy = remedy
