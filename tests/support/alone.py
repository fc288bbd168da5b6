"""The two steps of an edit of one unit, one by one: what is seen, and the write that comes after it."""

from tasks_app.lifecycle.alone import replaced
from tasks_app.lifecycle.decisions import CurrentRow, Outcome
from tasks_app.sql import run
from tests.support.moves import TUESDAY, TYPE


def seen(key: str) -> CurrentRow:
    [(_, _, _, *columns)] = run("lock_current", {"tenants": ["default"], "types": [TYPE], "keys": [key]})
    return CurrentRow(*columns)


def replace(row: CurrentRow, outcome: Outcome) -> list[tuple]:
    return run("replace_alone", {"at": TUESDAY, "delay": None} | replaced(row, outcome, "tess"))
