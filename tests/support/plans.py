"""How PostgreSQL runs our statements: all of them, planned once for any parameter, as the engine has it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from articles_app.lifecycle import publish_time
from tasks_app import sql
from tasks_app.engine.doctor.checks import ANYWHERE, CHECKS, LIVE, PAST
from tasks_app.engine.watch import audit_browse, browse, letters
from tasks_app.lifecycle import look, release
from tasks_app.lifecycle.jobs import instances, planning

# These read all that comes from below before they give a row; under them, a LIMIT above bounds nothing.
_READS_ALL = {"Sort", "Hash", "Aggregate", "Materialize", "WindowAgg", "SetOp", "Bitmap Heap Scan"}
_SCANS = {"Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Sample Scan", "Tid Scan"}
_FEW_PAGES = 100  # of a table that is read whole, since that costs no more than ten looks into an index
# What stands where a statement has the line `--rows`.
ROWS = {
    "browse": {
        "key": browse._by_key,
        "key_prefix": browse._BY_KEY_PREFIX,
        "unit": browse._BY_UNIT,
        "job": browse._BY_JOB,
        "run": browse._BY_RUN,
        **{str(state): source for state, source in browse._BY_STATE.items()},
        "due": browse._by_due,
    },
    "browse_ids": {"": browse._BY_ID},
    "tally_ids": {"": browse._BY_ID},
    "list_audit": {
        "tenant": audit_browse._stretch(audit_browse.AuditFilter("default")),
        "task": audit_browse._stretch(audit_browse.AuditFilter("default", task_id=1)),
    },
    "list_letters": {
        "all": letters._stretch(letters.LetterFilter()),
        "tenant": letters._stretch(letters.LetterFilter("default")),
        "cause": letters._stretch(letters.LetterFilter(fingerprint="0" * 16)),
        "own cause": letters._stretch(letters.LetterFilter("default", fingerprint="0" * 16)),
    },
    "count_letters": {
        "all": letters._stretch(letters.LetterFilter()),
        "own cause": letters._stretch(letters.LetterFilter("default", fingerprint="0" * 16)),
    },
    "letter_curves": {"all": letters._steps(None), "tenant": letters._steps("default")},
    "differing": {"": look._GIVEN},
    "waiting_keys": {"": "waiting.key = ANY (%(keys)s::text[])"},
    "compare_keys": {"": "SELECT unnest(%(keys)s::text[])"},
    "plan_instances": {"job": instances.OF_JOB, "cursor": planning.OF_CURSOR, "asked": instances.ASKED_FOR},
    "plan_new_instances": {"cursor": planning.OF_CURSOR},
    "release": {"parents": release.OF_PARENTS, "tasks": release.OF_TASKS},
    "next_stretch": {"live": LIVE, "past": PAST},
    **{
        one.statement: {"live": LIVE, "past": PAST if one.walks else ANYWHERE}
        for one in CHECKS
        if not one.walks or {LIVE, PAST} <= set(one.tables)
    },
}
# Those with SQL of an app's own in several places.
FILLED = {
    "move_with": publish_time.CHANGE_WITH_TASK.moving,
    "replace_with": publish_time.CHANGE_WITH_TASK.replacing,
}


def names() -> set[str]:
    """Of all statements that there are, without what is only a part of others."""
    files = sql._files()
    include = re.compile(r"^--include (\w+)$", re.MULTILINE)
    return files.keys() - {part for path in files.values() for part in include.findall(path.read_text())}


def statements() -> dict[str, str]:
    """By name, all that there are: each with the rows that Python puts into it."""
    found = {}
    for name in names():
        text = FILLED.get(name) or sql._text(name)
        if "--rows" not in text:
            found[name] = text
        for kind, rows in ROWS.get(name, {}).items() if "--rows" in text else ():
            found[f"{name} {kind}".rstrip()] = text.replace("--rows", _rows(rows))
    return found


def _rows(given: object) -> str:
    if callable(given):
        given = given(browse.Filter())
    return given.limited(200) if isinstance(given, browse.Source) else given


@dataclass(frozen=True, slots=True)
class Scan:
    table: str  # the one that has partitions, if it is one of them
    node: str
    rows: float  # expected, each time
    pages: int  # of the table
    bounded: bool  # a LIMIT above ends it
    filter: str  # what is asked of each row that it finds

    @property
    def whole(self) -> bool:
        return self.node == "Seq Scan" and self.pages > _FEW_PAGES


class Tables:
    """The pages of each, and the table of which it is a partition."""

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT relname, coalesce(pg_partition_root(oid), oid)::regclass::text, relpages FROM pg_class"
                " WHERE relnamespace = current_schema()::regnamespace"
            )
            self._known = {name: (root, pages) for name, root, pages in cursor.fetchall()}

    def __getitem__(self, name: str) -> tuple[str, int]:
        return self._known.get(name, (name, 0))


def generic_plan(statement: str) -> dict:
    """The one that is made for any parameters."""
    numbers: dict[str, int] = {}

    def number(found: re.Match) -> str:
        return "%" if found[0] == "%%" else f"${numbers.setdefault(found[1], len(numbers) + 1)}"

    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (GENERIC_PLAN, FORMAT JSON) " + re.sub(r"%\((\w+)\)s|%%", number, statement))
        return cursor.fetchone()[0][0]["Plan"]


def scans(plan: dict, tables: Tables, *, bounded: bool = False) -> Iterator[Scan]:
    node = plan["Node Type"]
    if plan.get("Parent Relationship") in ("InitPlan", "SubPlan"):
        bounded = False
    if node in _SCANS:
        table, pages = tables[plan["Relation Name"]]
        ends = bounded and node != "Bitmap Heap Scan"
        yield Scan(table, node, plan["Plan Rows"], pages, ends, plan.get("Filter", ""))
    bounded = node == "Limit" or (bounded and node not in _READS_ALL)
    for part in plan.get("Plans", ()):
        yield from scans(part, tables, bounded=bounded)
