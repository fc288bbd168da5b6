"""What is a tenant's own, as Parquet in a folder of its own: written table by table, read back, and then removed here.

A row is removed only as it was written: with each comes the transaction that wrote it (`xmin`), and one that somebody
has changed since has another. It stays, and the next round writes it again. Who reads takes, of rows with the same key,
the one of the last round.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import quote

import pyarrow.parquet as pq
from psycopg import sql

from tasks_app.database import our_connection
from tasks_app.sql import array, execute

from .columns import Column, columns_of
from .kinds import Kind
from .place import Place
from .tally import Tally
from .write import GROUP_ROWS, Pulse, Source, read_back, slices, write_part

FOLDER = "tenants"
MANIFEST = "manifest.json"
VERSION = 1  # of the layout
XMIN = Column("xmin", "bigint")
NONE = timedelta()

_OWN = "tenant = {tenant}"
_OF_JOBS = "job IN (SELECT id FROM punctual_job WHERE tenant = {tenant})"
_OF_CAMPAIGNS = "campaign_id IN (SELECT id FROM punctual_campaign WHERE tenant = {tenant})"
_OF_SUBSCRIPTIONS = "subscription_id IN (SELECT id FROM punctual_subscription WHERE tenant = {tenant})"
OF_TASKS = "task_id = ANY ('{{{ids}}}'::bigint[])"


class Table(NamedTuple):
    """One table, and which of its rows are a tenant's."""

    name: str  # of its files
    table: str
    of: str = _OWN
    key: str = "id"
    left_out: tuple[str, ...] = ()  # columns that nobody should find in an archive
    in_use: bool = False  # what somebody has locked stays for the next round; else it is waited for


# In the order in which they are removed: whatever is found by way of another table goes before that.
TABLES = (
    Table("job_parents", "punctual_job_parent", _OF_JOBS, "job"),
    Table("firing_overrides", "punctual_firing_override", _OF_JOBS),
    Table("backfills", "punctual_backfill", _OF_JOBS),
    Table("turns", "punctual_turn", _OF_JOBS, "task"),
    Table("declared_jobs", "punctual_declared_job"),
    Table("imported_schedules", "punctual_imported_schedule"),
    Table("runs", "punctual_run"),
    Table("jobs", "punctual_job"),
    Table("calendars", "punctual_calendar"),
    Table("campaign_chunks", "punctual_campaign_chunk", _OF_CAMPAIGNS),
    Table("campaigns", "punctual_campaign"),
    Table("deliveries", "punctual_delivery", _OF_SUBSCRIPTIONS),
    Table("subscriptions", "punctual_subscription", left_out=("secrets",)),
    Table("secrets", "punctual_secret", left_out=("values",)),
    Table("tokens", "punctual_api_token", left_out=("digest",)),
    Table("members", "punctual_membership"),
    Table("saved_filters", "punctual_saved_filter"),
    Table("owned_units", "punctual_owned_unit"),
    Table("alarm_incidents", "punctual_alarm_incident"),
    Table("alarm_rules", "punctual_alarm_rule"),
    Table("alarm_channels", "punctual_alarm_channel", left_out=("target",)),
    Table("stored_answers", "punctual_idempotency_record", left_out=("answer",)),
    Table("unwell_hosts", "punctual_host_health"),
    Table("unit_revisions", "punctual_unit_revision"),
    Table("dead_letters", "punctual_dead_letter"),
    Table("held", "punctual_held", key="task"),
    Table("quota_use", "punctual_quota_use"),
    Table("attempts", "punctual_attempt", OF_TASKS),
    Table("logs", "punctual_log", OF_TASKS),
    Table("past", "punctual_past", in_use=True),
    Table("tasks", "punctual_task", in_use=True),
)
BY_NAME = {one.name: one for one in TABLES}
# What only says something about a task that is there goes with the task.
BESIDE = ("punctual_trace", "punctual_progress", "punctual_wait", "punctual_early_report", "punctual_rehearsed")


class Piece(NamedTuple):
    """A table, or one partition of it, that is written in one go."""

    table: str  # by its name among TABLES
    relation: str


class Written(NamedTuple):
    """A file, and what was read back from it."""

    table: str
    name: str
    rows: int
    bytes: int
    total: int  # see Tally
    squares: int
    round: int

    @property
    def tally(self) -> Tally:
        return Tally(self.rows, self.total, self.squares)


def folder_of(tenant: str, at: datetime) -> str:
    """Of its own, whatever is in its name."""
    name = quote(tenant, safe="").replace(".", "%2E")
    return f"{FOLDER}/{name}/{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def pieces() -> list[Piece]:
    """All that has to be looked through. Tasks come before those that are over, where they may go meanwhile; and what
    lies beside them after both, since it is found by their ids."""
    beside = [one for one in TABLES if one.of == OF_TASKS]
    plain = [one for one in TABLES if one not in beside and not one.in_use]
    tasks, past = BY_NAME["tasks"], BY_NAME["past"]
    found = [Piece(one.name, one.table) for one in (*plain, tasks)]
    found += [Piece(past.name, leaf) for leaf in _leaves(past.table)]
    return found + [Piece(one.name, one.table) for one in beside]


def export(
    place: Place, piece: Piece, tenant: str, folder: str, label: str, tasks: Sequence[Written], pulse: Pulse
) -> list[Written]:
    """The tenant's rows of it as files whose names have this label. `tasks`: the files of the round's tasks so far."""
    table = BY_NAME[piece.table]
    if not execute("SELECT to_regclass(%(name)s) IS NOT NULL", {"name": piece.relation})[0][0]:
        return []  # a partition that was dropped meanwhile, since its time was over
    columns = [one for one in columns_of(piece.relation) if one.name not in table.left_out]
    kind = Kind(table.name, "", table.table, table.key, "", (table.key,), NONE, NONE)
    source = Source(kind, piece.relation, [*columns, XMIN])
    found: list[Written] = []
    for conditions in _conditions(place, table, piece.relation, tenant, tasks):
        name = f"{folder}/{table.name}-{label}-{len(found):04}.parquet"
        if (part := write_part(place, source, conditions, name, pulse)) is not None:
            found.append(Written(table.name, name, part.rows, part.bytes, part.total, part.squares, 0))
    return found


def _conditions(
    place: Place, table: Table, relation: str, tenant: str, tasks: Sequence[Written]
) -> Iterator[Iterator[str] | list[str]]:
    """For each file that may be needed."""
    if table.of == OF_TASKS:
        yield (table.of.format(ids=",".join(map(str, ids))) for ids in _ids(place, tasks))
        return
    own = table.of.format(tenant=sql.Literal(tenant).as_string(our_connection().connection))
    if not table.in_use and not execute(f"SELECT EXISTS (SELECT FROM {relation} WHERE {own.replace('%', '%%')})")[0][0]:
        return
    for stretch in slices(relation):
        yield [f"{stretch} AND {own}"]


def check(place: Place, file: Written, pulse: Pulse) -> None:
    """An OSError if it is not there any more as it was written."""
    if place.size(file.name) != file.bytes:
        raise OSError(f"{file.name} has {place.size(file.name)} bytes, but should have {file.bytes}")
    read_back(place, file.name, file.tally, BY_NAME[file.table].key, pulse)


def rows_in(place: Place, file: Written, most: int) -> Iterator[tuple[list[int], list[int]]]:
    """The keys of its rows, each with the transaction that wrote it; no more than that at once."""
    key = BY_NAME[file.table].key
    with place.open(file.name) as opened, pq.ParquetFile(opened) as parquet:
        for batch in parquet.iter_batches(most, columns=[key, XMIN.name]):
            yield batch.column(key).to_pylist(), batch.column(XMIN.name).to_pylist()


def remove(table_name: str, keys: Sequence[int], xmins: Sequence[int]) -> int:
    """These rows, as far as they are still what was written. Returns how many; the caller has a transaction."""
    table = BY_NAME[table_name]
    idle = "AND t.status NOT IN ('RUNNING', 'AWAY')" if table_name == "tasks" else ""
    skip = "SKIP LOCKED" if table.in_use else ""
    statement = f"""
        WITH mine AS MATERIALIZED (
            SELECT g.key, g.xmin
            FROM unnest(%(keys)s::bigint[], %(xmins)s::bigint[]) AS g(key, xmin)
            JOIN {table.table} t ON t."{table.key}" = g.key AND t.xmin::text::bigint = g.xmin {idle}
            ORDER BY t."{table.key}"
            FOR UPDATE OF t {skip}
        )
        DELETE FROM {table.table} t USING mine
        WHERE t."{table.key}" = mine.key AND t.xmin::text::bigint = mine.xmin {idle}
        RETURNING mine.key
    """
    gone = [key for (key,) in execute(statement, {"keys": array(keys), "xmins": array(xmins)})]
    if gone and table_name == "tasks":
        for beside in BESIDE:
            execute(f"DELETE FROM {beside} WHERE task = ANY (%(ids)s::bigint[])", {"ids": array(gone)})
    return len(gone)


def is_left(tenant: str) -> bool:
    """Whether there is a live task of it, after all: one that came back from the past between two looks."""
    [(found,)] = execute("SELECT EXISTS (SELECT FROM punctual_task WHERE tenant = %(tenant)s)", {"tenant": tenant})
    return bool(found)


def counts(tenant: str) -> dict[str, int]:
    """How many rows of each table are the tenant's, where there are any; without what lies beside tasks."""
    found = {}
    for table in TABLES:
        if table.of != OF_TASKS:
            own = table.of.format(tenant="%(tenant)s")
            [(rows,)] = execute(f"SELECT count(*) FROM {table.table} WHERE {own}", {"tenant": tenant})
            if rows:
                found[table.name] = rows
    return found


def write_manifest(place: Place, folder: str, told: dict[str, object], files: Sequence[Written]) -> None:
    """What lies in the folder, and whose it is: written before anything is removed, and again when all is."""
    columns = {one.name: dict(columns_of(one.table)) for one in TABLES if any(file.table == one.name for file in files)}
    for name, found in columns.items():
        for left_out in BY_NAME[name].left_out:
            del found[left_out]
    body = told | {"version": VERSION, "rows": sum(file.rows for file in files), "columns": columns}
    body |= {"files": [file._asdict() for file in files]}
    place.write(f"{folder}/{MANIFEST}", json.dumps(body, indent=1).encode())


def _ids(place: Place, tasks: Sequence[Written]) -> Iterator[list[int]]:
    for file in tasks:
        for keys, _ in rows_in(place, file, GROUP_ROWS):
            yield keys


def _leaves(table: str) -> list[str]:
    tree = "SELECT relid::regclass::text FROM pg_partition_tree(%(table)s::regclass) WHERE isleaf ORDER BY 1"
    return [name for (name,) in execute(tree, {"table": table})]
