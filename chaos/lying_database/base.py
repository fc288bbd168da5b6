"""PostgreSQL whose commits, once in a while, happen and then report an error, as when the answer is lost on the wire.

Both kinds lie: the commit of a transaction, and a writing statement in autocommit, which is its own commit. The
n-th commit of a process lies or not by the seed and the process's name, so two runs lie at the same places.
"""

import os
import random
import re
import threading

from django.db import OperationalError
from django.db.backends.postgresql import base

from chaos.journal import append

WRITES = re.compile(r"\s*(--[^\n]*\n\s*)*(WITH|INSERT|UPDATE|DELETE)\b", re.IGNORECASE)


class DatabaseWrapper(base.DatabaseWrapper):
    def __init__(self, *args, **options) -> None:
        super().__init__(*args, **options)
        self.execute_wrappers.append(self._lie_after_autocommit)

    def _commit(self):
        answer = super()._commit()
        if self.connection is not None:
            self._perhaps_lie("COMMIT")
        return answer

    def _lie_after_autocommit(self, execute, sql, params, many, context):
        answer = execute(sql, params, many, context)
        if not self.in_atomic_block and self.autocommit and WRITES.match(sql):
            self._perhaps_lie(_verb(sql))
        return answer

    def _perhaps_lie(self, about: str) -> None:
        if LIAR.lies_now():
            append("lies", f"{os.environ['CHAOS_PROCESS']} {about}")
            self.connection.close()
            raise OperationalError("chaos: it was committed, but the answer was lost on the wire")


def _verb(sql: str) -> str:
    """`start` of a statement that opens with `-- start: ...`, else its first word."""
    return sql.lstrip("- \n").split(None, 1)[0].rstrip(":")


class Liar:
    """Decides for all connections of a process together."""

    def __init__(self) -> None:
        self._share = float(os.environ["CHAOS_LIES"])
        self._lock = threading.Lock()
        self._pid = None

    def lies_now(self) -> bool:
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                self._dice = random.Random(f"{os.environ['CHAOS_SEED']}/{os.environ['CHAOS_PROCESS']}")
            return self._dice.random() < self._share


LIAR = Liar()
