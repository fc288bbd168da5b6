"""Sessions of tests keep their prepared statements when a transaction is rolled back, as most tests end.

psycopg forgets all of them then, since the transaction may have made tables that they name. Each test would have to
parse and plan every statement anew, which takes PostgreSQL longer than to run it.
"""

import re

from psycopg import BaseConnection
from psycopg._preparing import PrepareManager

_DROPS = re.compile(rb"^(?:DROP|ALTER|DISCARD ALL|DEALLOCATE ALL)\b").match


def keep_plans() -> None:
    should_discard, roll_back = PrepareManager._should_discard, BaseConnection._rollback_gen

    def _should_discard(manager: PrepareManager, prepare, results) -> bool:
        return should_discard(manager, prepare, results, _DROPS)

    def _rollback_gen(connection: BaseConnection):
        prepared, connection._prepared = connection._prepared, PrepareManager()
        try:
            yield from roll_back(connection)
        finally:
            connection._prepared = prepared

    PrepareManager.prepared_max = 1_000  # one session runs the statements of all tests of its process
    PrepareManager._should_discard = _should_discard
    BaseConnection._rollback_gen = _rollback_gen
