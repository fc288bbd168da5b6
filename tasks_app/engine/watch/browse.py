"""The one list of tasks, of pages and API: every filter, among millions, in bounded time, with no status index.

Dead tasks are found through their open dead letters, running ones through the unfinished batches, failed ones through
the attempts, scheduled ones through the due index, a key and a unit through the units, instances through their job;
everything else by walking down the ids. Of the past only the partitions are opened in which a match can lie.
"""

import json
import re
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.utils import timezone
from psycopg.sql import Literal

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, shown
from tasks_app.core.lanes import LANES
from tasks_app.core.states import Status
from tasks_app.lifecycle.limited import limited_types
from tasks_app.lifecycle.request import Unit, checked_instant
from tasks_app.lifecycle.shards import all_shards
from tasks_app.scope import all_tenants
from tasks_app.sql import Row, run, run_on
from tasks_app.storage.partitions import EVER, known_classes, partitions

DUE = "DUE"  # beside the states: due now, whatever the state
STATES = (DUE, *(one.value for one in Status))
MOST = 1_000_000  # candidates for one page: time sets the bound, unless the caller sets another
FIRST_STEP = 200  # candidates in the first statement; up to four times as many in each after it
LAST_CHARACTER = "\U0010ffff"
# A batch is finished after its last task; this is more than any run takes.
LONGEST_RUN = timedelta(hours=1)
LONGEST_TRANSACTION = timedelta(hours=1)  # that made tasks: their ids may be younger than they are, by so much
SLACK = timedelta(minutes=1)  # by which a worker's measure of a run may differ from the database's clock
LIVE_STATES = (DUE, Status.BLOCKED, Status.INIT, Status.RUNNING, Status.AWAY, Status.FAIL)  # never in the past
LONGEST_PLACE = 2_000
LARGEST_ID = 2**63 - 1
_RANGES = (("due_from", "due_to"), ("ran_from", "ran_to"), ("changed_from", "changed_to"), ("since", "until"))
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Filter:
    tenant: str | None = None
    state: str | None = None
    task_type: str | None = None
    types: Collection[str] | None = None  # of these only: all that a caller may see
    lane: str | None = None
    key: str | None = None
    key_prefix: str | None = None  # how the key begins, instead of a whole one
    unit: Unit | None = None  # the tasks of this unit: the current one, and those that it took over from
    job: int | None = None
    due_from: datetime | None = None
    due_to: datetime | None = None
    ran_from: datetime | None = None
    ran_to: datetime | None = None
    changed_from: datetime | None = None  # last written to: of what is over, when it ended
    changed_to: datetime | None = None
    since: datetime | None = None  # by fire_time, of instances: from here on
    until: datetime | None = None  # and before this
    newest: int | None = None  # no task younger than this id
    lanes: Collection[str] | None = None  # in these only: all that a caller may use
    actable: bool = False  # not of the past: nothing can be done to that any more

    def __post_init__(self) -> None:
        for name, value, known in (("state", self.state, STATES), ("lane", self.lane, LANES)):
            if value is not None and value not in known:
                raise InvalidTask(f"{name} {value!r} is unknown; there are {', '.join(known)}.")
        for first, last in _RANGES:
            begin, end = getattr(self, first), getattr(self, last)
            for bound, value in ((first, begin), (last, end)):
                if value is not None:
                    checked_instant(bound, value)
            if begin is not None and end is not None and end <= begin:
                raise InvalidTask(f"{last}={end} must be later than {first}={begin}.")

    @property
    def live_only(self) -> bool:
        """What is over can't match."""
        return self.actable or self.state in LIVE_STATES or self.due_from is not None or self.due_to is not None

    @property
    def past(self) -> tuple[datetime, datetime] | None:
        """From when to when that was last written to which is over and may match; None: nothing is."""
        begins = [at for at in (self.changed_from, self.ran_from and self.ran_from - SLACK) if at is not None]
        begin, end = max(begins, default=EARLIEST), self.changed_to or LATEST
        return None if self.live_only or begin >= end else (begin, end)

    @property
    def youngest(self) -> datetime | None:
        """No younger task can match."""
        return min((at for at in (self.changed_to, self.ran_to) if at is not None), default=None)


class Bookmark(NamedTuple):
    """Where a list goes on: after this place. No two candidates stand at one."""

    at: str

    def __str__(self) -> str:
        """As pages and answers write it: a number alone, or `0:at`."""
        return self.at if self.at.isdecimal() else f"0:{self.at}"

    @classmethod
    def read(cls, text: str) -> "Bookmark":
        mark, colon, at = text.partition(":")
        if not colon:
            mark, at = "0", text if re.fullmatch("[1-9][0-9]{0,18}", text) else ""
        if mark != "0" or not at or len(at) > LONGEST_PLACE or "\0" in at:
            raise InvalidTask(f"{shown(text[:40])} is not a position in this list; start from the beginning.")
        return cls(at)


class Seen(NamedTuple):
    id: int
    status: str
    due: bool
    current: bool
    updated_at: datetime
    task_type: str
    lane: str
    planned: datetime  # when it is to run, or was


class Looked(NamedTuple):
    """A row of `browse` and `browse_ids`: how far the look came, and one task that it found, or none."""

    candidates: int
    place: int  # of the last candidate that counts, from 1
    at: str
    task: Seen | None

    @classmethod
    def of(cls, row: Row) -> "Looked":
        candidates, place, at, *task = row
        return cls(candidates, place, at, None if task[0] is None else Seen(*task))


class Alike(NamedTuple):
    """What a tally tells apart."""

    status: str
    due: bool
    current: bool
    task_type: str
    lane: str


@dataclass(frozen=True, slots=True)
class Tally:
    """Tasks that are alike: how many, and between when they are planned."""

    count: int
    first: datetime
    last: datetime

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.count + other.count, min(self.first, other.first), max(self.last, other.last))


@dataclass(frozen=True, slots=True)
class Matches:
    """Tasks that a filter found, one page of them."""

    tasks: list[Seen]
    looked_at: int
    next: Bookmark | None  # None: there is no more


@dataclass(frozen=True, slots=True)
class Source:
    """Candidates: a query of (id, place), in the order of their places; `%(at)s` is the place to go on after,
    `%(most)s` how many are wanted at most.

    No two stand at the same place, so the next look begins strictly after it. That is safe even if the last one has
    left the list meanwhile; skipping so many candidates would then leave one out.

    `placed`: the query has three more columns. If the task is in the past, it was last written to between the first
    two; and the candidate stands for its run in the batch of the third, if there is one.
    """

    rows: str
    place: Callable[[str], object] = int  # reads a place; raises ValueError if it is none
    statement: str = "browse"
    longest: int = 10_000  # candidates in one statement, at most: some 30 ms of work
    placed: bool = False

    def limited(self, step: int) -> str:
        rows = f"{self.rows} LIMIT {step}"
        if self.placed or self.statement != "browse":
            return rows
        return (
            "SELECT id, at, '-infinity'::timestamptz, 'infinity'::timestamptz, NULL::uuid"
            f" FROM ({rows}) AS plain(id, at)"
        )


def browse(
    wanted: Filter,
    after: Bookmark | None = None,
    size: int = 50,
    seconds: float = 0.12,
    *,
    most: int = MOST,
    steady: bool = False,
) -> Matches:
    """The next `size` tasks that match. Gives up with what it found after `seconds`, or when it has looked at about
    `most` candidates; `next` says where to go on.

    `steady`: in an order that no retry, move or cancel changes, so that a walk which acts on the tasks misses none.
    """
    source = _source(wanted, steady)
    given = _given(wanted) | _live_below(wanted, source)
    tasks: list[Seen] = []
    looked_at, step, deadline = 0, max(FIRST_STEP, size), time.monotonic() + seconds
    while True:
        given |= {"at": _place(source, after), "size": size - len(tasks), "most": step}
        begun = time.monotonic()
        answer = run_on(source.statement, source.limited(step), given)
        if not answer:
            return Matches(tasks, looked_at, None)
        rows = [Looked.of(row) for row in answer]
        tasks += [row.task for row in rows if row.task is not None]
        last = rows[0]
        looked_at += last.place
        after = Bookmark(last.at)
        if last.place == last.candidates < step:
            return Matches(tasks, looked_at, None)
        step = _next_step(source, step, took=time.monotonic() - begun, left=deadline - time.monotonic())
        step = min(step, most - looked_at)
        if len(tasks) == size or step < FIRST_STEP:
            return Matches(tasks, looked_at, after)


def walk(wanted: Filter, size: int = 500, after: Bookmark | None = None) -> Iterator[Matches]:
    """All that match, a page at a time, in an order that acting on them does not change."""
    while True:
        found = browse(wanted, after, size, seconds=1.0, steady=True)
        yield found
        after = found.next
        if after is None:
            return


def tally(wanted: Filter, seconds: float) -> tuple[dict[Alike, Tally], bool]:
    """How many match, of those that are alike. False: there are more, but the time was over."""
    source, deadline = _source(wanted, steady=True), time.monotonic() + seconds
    tallies: dict[Alike, Tally] = {}

    def add(alike: Alike, one: Tally) -> None:
        tallies[alike] = tallies[alike] + one if alike in tallies else one

    if source is not _BY_ID:
        for found in walk(wanted, size=10_000):
            for task in found.tasks:
                alike = Alike(task.status, task.due, task.current, task.task_type, task.lane)
                add(alike, Tally(1, task.planned, task.planned))
            if found.next and time.monotonic() > deadline:
                return tallies, False
        return tallies, True
    given, at = _given(wanted) | _live_below(wanted, source) | {"most": source.longest}, None
    while True:
        rows = run_on("tally_ids", source.limited(source.longest), given | {"at": at})
        for _, _, *kind, count, first, last in rows:
            if count:
                add(Alike(*kind), Tally(count, first, last))
        candidates, at, *_ = rows[0]
        if (complete := candidates < source.longest) or time.monotonic() > deadline:
            return tallies, complete


def _next_step(source: Source, step: int, took: float, left: float) -> int:
    """As many candidates as can be looked at in the time that is left, going by the last ones; few: better stop."""
    return min(int(step * min(4, left / took)), source.longest)


def _place(source: Source, after: Bookmark | None) -> str | None:
    """The place as PostgreSQL reads it, however it was written."""
    if after is None:
        return None
    try:
        place = source.place(after.at)
        if isinstance(place, int) and not -(2**63) <= place < 2**63:
            raise ValueError
    except ValueError:
        raise InvalidTask(f"{shown(after.at)} is not a position in this list; start from the beginning.") from None
    return str(place)


def _unit_place(text: str) -> str:
    """Key, type, tenant and id, as PostgreSQL wrote them."""
    try:
        match json.loads(text):
            case [str(key), str(task_type), str(tenant), int(number)] if abs(number) <= LARGEST_ID:
                "".join((key, task_type, tenant)).encode()  # halves of characters can't be; nor can NUL
                if "\0" not in key + task_type + tenant:
                    return json.dumps([key, task_type, tenant, int(number)])
    except RecursionError:
        pass
    raise ValueError(text)


def _source(wanted: Filter, steady: bool) -> Source:
    if wanted.unit is not None:
        return _BY_UNIT
    if wanted.key is not None:
        return _by_key(wanted)
    if wanted.key_prefix is not None:
        return _BY_KEY_PREFIX
    if wanted.job is not None:
        return _BY_JOB
    if wanted.state == Status.FAIL and not (wanted.due_from or wanted.due_to):
        return _by_failure()
    if wanted.state in _BY_STATE and not (wanted.due_from or wanted.due_to):
        return _BY_STATE[wanted.state]
    # What succeeded did so in a batch, and nobody acts on it: no walk of one who acts can miss it.
    if _runs_are_known(wanted) and (wanted.state == Status.SUCCESS or not (steady or wanted.state or wanted.due_from)):
        return _BY_RUN
    if steady:
        return _BY_ID
    if wanted.state in (DUE, Status.INIT) or wanted.due_from or wanted.due_to:
        return _by_due(wanted)
    return _BY_ID


def _runs_are_known(wanted: Filter) -> bool:
    return wanted.ran_from is not None and wanted.ran_from > timezone.now() - timedelta(days=conf().KEEP_HOT_DAYS)


def _partitions_of(wanted: Filter) -> tuple[datetime, datetime] | None:
    """The time that may match, as far as the partitions go that it touches: no row of theirs has to be stepped over."""
    window = wanted.past
    if window in (None, (EARLIEST, LATEST)):
        return window
    begin, end = window
    bounds = [(one.since, one.until) for table in known_classes().values() for one in partitions(table)]
    for since, until in sorted(bounds):
        if since < end and until > begin:
            begin, end = min(begin, since), max(end, until)
    return begin, end


@all_tenants()  # a bound, by whoever's tasks
def _live_below(wanted: Filter, source: Source) -> dict[str, int]:
    """Live tasks from this id on are too young to match, and are not walked over."""
    kept = timezone.now() - timedelta(seconds=conf().KEEP_LIVE_SECONDS) - LONGEST_TRANSACTION
    if source.statement != "browse_ids" or wanted.youngest is None or wanted.youngest > kept:
        return {"live_below": LARGEST_ID}
    [(below,)] = run("id_at", {"moment": wanted.youngest + LONGEST_TRANSACTION})
    return {"live_below": below}


def _given(wanted: Filter) -> dict[str, object]:
    prefix, unit = wanted.key_prefix, wanted.unit or (None, None, None)
    past_from, past_to = _partitions_of(wanted) or (LATEST, EARLIEST)
    return {
        "tenant": wanted.tenant,
        "state": None if wanted.state == DUE else wanted.state,
        "due_now": wanted.state == DUE,
        "task_type": wanted.task_type,
        "types": None if wanted.types is None else list(wanted.types),
        "lane": wanted.lane,
        "lanes": None if wanted.lanes is None else list(wanted.lanes),
        "key": wanted.key,
        "key_from": prefix,
        "key_to": None if prefix is None else prefix + LAST_CHARACTER,
        "unit_tenant": unit[0],
        "unit_type": unit[1],
        "unit_key": unit[2],
        "job": wanted.job,
        "due_from": wanted.due_from,
        "due_to": wanted.due_to,
        "ran_from": wanted.ran_from,
        "ran_to": wanted.ran_to,
        "since": wanted.since,
        "until": wanted.until,
        "run_ends": wanted.ran_to and wanted.ran_to + LONGEST_RUN,
        "changed_from": wanted.changed_from,
        "changed_to": wanted.changed_to,
        "newest": wanted.newest,
        "past_from": past_from,
        "past_to": past_to,
    }


def _moment_and_id(text: str) -> str:
    """A place in a list by time, in which several may have the same."""
    at, _, id_ = text.partition("/")
    instant = datetime.fromisoformat(at)
    if instant.tzinfo is None or not re.fullmatch("[1-9][0-9]{0,18}", id_) or int(id_) >= 2**63:
        raise ValueError(text)
    try:
        return f"{instant.astimezone(UTC).isoformat()}/{id_}"
    except OverflowError as error:  # before the year 1 or after 9999
        raise ValueError(text) from error


_BELOW = "< coalesce(%(at)s::bigint, 9223372036854775807)"
# All of some partitions, and nothing of the others. Between two bounds that it does not know PostgreSQL expects so few
# rows that it would sort them, instead of reading an index until there are enough; it expects more of an OR.
_IN_TIME = (
    "updated_at >= %(past_from)s::timestamptz"
    " AND (updated_at < %(past_to)s::timestamptz OR updated_at < %(past_to)s::timestamptz + interval '0')"
)
# As a source tells them: the past need not be asked for what is live.
_IS_LIVE = "'infinity'::timestamptz, '-infinity'::timestamptz, NULL::uuid"
_WAS_WRITTEN = "updated_at, updated_at, NULL::uuid"
# Its own order and limit make each list a scan of an index, and the whole a merge of such scans.
_BY_ID = Source(
    f"SELECT id, id FROM ((SELECT id FROM punctual_task WHERE id < %(live_below)s::bigint AND id {_BELOW}"
    " ORDER BY id DESC LIMIT %(most)s)"
    f" UNION ALL (SELECT id FROM punctual_past WHERE id {_BELOW} AND {_IN_TIME} ORDER BY id DESC LIMIT %(most)s)"
    ") AS one ORDER BY id DESC",
    statement="browse_ids",
    longest=50_000,
)
# In order of the unit's index, in which the tasks of one unit stand one after the other however many they are. Of the
# live ones there is one a unit, and so no id in that index.
_AFTER = (
    "(coalesce(%(at)s::jsonb ->> 0, %(key_from)s::text), coalesce(%(at)s::jsonb ->> 1, ''),"
    " coalesce(%(at)s::jsonb ->> 2, '')"
)
_AFTER_ID = f"{_AFTER}, coalesce((%(at)s::jsonb ->> 3)::bigint, 0))"
_BY_KEY_PREFIX = Source(
    f"SELECT id, json_build_array(biz_key, task_type, tenant, id), since, until, ran_in FROM ("
    f"(SELECT id, biz_key, task_type, tenant, {_IS_LIVE} FROM punctual_task"
    f" WHERE current AND (biz_key, task_type, tenant) >= {_AFTER}) AND biz_key < %(key_to)s::text"
    f" AND (biz_key, task_type, tenant, id) > {_AFTER_ID} ORDER BY biz_key, task_type, tenant LIMIT %(most)s)"
    " UNION ALL "
    f"(SELECT id, biz_key, task_type, tenant, {_WAS_WRITTEN} FROM punctual_past"
    f" WHERE (biz_key, task_type, tenant, id) > {_AFTER_ID} AND biz_key < %(key_to)s::text AND {_IN_TIME}"
    " ORDER BY biz_key, task_type, tenant, id LIMIT %(most)s)"
    ") AS one(id, biz_key, task_type, tenant, since, until, ran_in) ORDER BY biz_key, task_type, tenant, id",
    place=_unit_place,
    placed=True,
)
_UNIT = "%(unit_key)s::text, %(unit_type)s::text, %(unit_tenant)s::text"
# Of what is live only current rows are indexed by their unit; the ones before are found through the row that took over.
# In the past, rows are compared as a whole: of `biz_key = ` and `job = ` PostgreSQL expects as many as an average unit
# or job has, and would sort all that a large one has.
_BY_UNIT = Source(
    f"WITH RECURSIVE chain AS ((SELECT id, replaces, {_IS_LIVE} FROM punctual_task"
    f" WHERE current AND (biz_key, task_type, tenant) = ({_UNIT})"
    f" UNION ALL (SELECT id, replaces, {_WAS_WRITTEN} FROM punctual_past"
    f" WHERE (biz_key, task_type, tenant, id) >= ({_UNIT}, 0) AND (biz_key, task_type, tenant, id)"
    f" < ({_UNIT}, coalesce(%(at)s::bigint, 9223372036854775807)) AND {_IN_TIME}"
    " ORDER BY biz_key DESC, task_type DESC, tenant DESC, id DESC LIMIT %(most)s))"
    f" UNION SELECT older.id, older.replaces, {_IS_LIVE}"
    " FROM chain CROSS JOIN LATERAL (SELECT * FROM punctual_task WHERE id = chain.replaces LIMIT 1) AS older)"
    " SELECT id, id, since, until, ran_in FROM chain AS chain(id, replaces, since, until, ran_in)"
    f" WHERE id {_BELOW} ORDER BY id DESC",
    placed=True,
)
# Many have the same time: they fire, are due or end together. So a place is the time and the id.
_MOMENT, _ID = "split_part(%(at)s::text, '/', 1)::timestamptz", "split_part(%(at)s::text, '/', 2)::bigint"
_OF_JOB = (
    "job IS NOT NULL AND (job, fire_time) >= (%(job)s::bigint, coalesce(%(since)s::timestamptz, '-infinity'))"
    f" AND (job, fire_time) <= (%(job)s::bigint, least({_MOMENT}, %(until)s::timestamptz, 'infinity'))"
    f" AND (%(at)s::text IS NULL OR (fire_time, id) < ({_MOMENT}, {_ID}))"
)
_BY_JOB = Source(
    "SELECT id, fire_time::text || '/' || id, since, until, ran_in FROM ("
    f"(SELECT id, fire_time, {_IS_LIVE} FROM punctual_task WHERE {_OF_JOB}"
    " ORDER BY job DESC, fire_time DESC, id DESC LIMIT %(most)s)"
    " UNION ALL "
    f"(SELECT id, fire_time, {_WAS_WRITTEN} FROM punctual_past WHERE {_OF_JOB} AND {_IN_TIME}"
    " ORDER BY job DESC, fire_time DESC, id DESC LIMIT %(most)s)"
    ") AS one(id, fire_time, since, until, ran_in) ORDER BY fire_time DESC, id DESC",
    place=_moment_and_id,
    placed=True,
)
# Nearly every task was last written to during its batch: that partition is asked first, then the later ones. No index
# has the ids, so all of the last moment are read (WITH TIES), and sorted then.
_BY_RUN = Source(
    "SELECT id, finished_at::text || '/' || id, claimed_at, 'infinity'::timestamptz, batch_no FROM ("
    "SELECT run.id, b.finished_at, b.claimed_at, b.batch_no"
    " FROM punctual_any_batch b CROSS JOIN LATERAL unnest(b.ids) AS run(id)"
    f" WHERE b.finished_at >= %(ran_from)s AND b.finished_at <= coalesce({_MOMENT}, %(run_ends)s, 'infinity')"
    f" AND (%(at)s::text IS NULL OR (b.finished_at, run.id) < ({_MOMENT}, {_ID}))"
    " ORDER BY b.finished_at DESC FETCH FIRST (%(most)s) ROWS WITH TIES"
    ") AS ran ORDER BY finished_at DESC, id DESC",
    place=_moment_and_id,
    placed=True,
)
_BY_STATE: dict[str, Source] = {
    Status.DEAD: Source(
        "SELECT task_id, task_id FROM punctual_dead_letter"
        f" WHERE replay_status = 'OPEN' AND task_id {_BELOW} ORDER BY task_id DESC"
    ),
    Status.RUNNING: Source(
        "SELECT run.id, run.id FROM punctual_batch b CROSS JOIN LATERAL unnest(b.ids) AS run(id)"
        f" WHERE b.finished_at IS NULL AND run.id {_BELOW} ORDER BY run.id DESC"
    ),
    Status.AWAY: Source(f"SELECT task, task FROM punctual_away WHERE task {_BELOW} ORDER BY task DESC"),
}


def _by_key(wanted: Filter) -> Source:
    """The tasks that stand for this key now, one of each type and tenant: live ones, else the last in the past.

    The past knows a unit by each of its tasks, and there may be very many: their index is stepped through, from one
    unit to the next.
    """
    known = "biz_key = %(key)s::text"
    if wanted.task_type and wanted.tenant:
        known += " AND task_type = %(task_type)s::text AND tenant = %(tenant)s::text"
    next_one = (
        f"(SELECT task_type, tenant FROM punctual_past WHERE {known} AND {_IN_TIME}"
        "{after} ORDER BY biz_key, task_type, tenant LIMIT 1)"
    )
    rows = (
        "WITH RECURSIVE live AS MATERIALIZED"
        f" (SELECT id, task_type, tenant FROM punctual_task WHERE current AND {known}),"
        f" unit AS ({next_one.replace('{after}', '')} UNION ALL SELECT following.* FROM unit CROSS JOIN LATERAL"
        f" {next_one.replace('{after}', ' AND (task_type, tenant) > (unit.task_type, unit.tenant)')} AS following),"
        f" same AS MATERIALIZED (SELECT id, {_IS_LIVE} FROM live UNION ALL"
        " SELECT newest.* FROM unit CROSS JOIN LATERAL"
        f" (SELECT id, {_WAS_WRITTEN} FROM punctual_past p WHERE biz_key = %(key)s::text"
        f" AND p.task_type = unit.task_type AND p.tenant = unit.tenant AND {_IN_TIME}"
        " ORDER BY id DESC LIMIT 1) AS newest"
        " WHERE NOT EXISTS (SELECT FROM live WHERE (live.task_type, live.tenant) = (unit.task_type, unit.tenant)))"
        " SELECT id, id, since, until, ran_in FROM same AS same(id, since, until, ran_in)"
        f" WHERE id {_BELOW} ORDER BY id DESC"
    )
    return Source(rows, placed=True)


def _by_failure() -> Source:
    """A failure leaves an attempt behind; of a task's attempts the latest stands for it.

    What failed so long ago that its attempts are gone waits for a far time, or rolls slowly. It comes after the others,
    by a walk over the live tasks that are as old as that, which stand at places below 0.
    """
    return Source(
        f"(SELECT a.task_id, a.id FROM punctual_attempt a WHERE a.id {_BELOW} AND NOT EXISTS"
        " (SELECT FROM punctual_attempt later WHERE later.task_id = a.task_id AND later.id > a.id)"
        " ORDER BY a.id DESC LIMIT %(most)s)"
        " UNION ALL "
        "SELECT CASE WHEN old.status = 'FAIL' AND NOT EXISTS"
        " (SELECT FROM punctual_attempt a WHERE a.task_id = old.id) THEN old.id END, -old.id"
        " FROM (SELECT id, status FROM punctual_task"
        f" WHERE id > greatest(-coalesce(%(at)s::bigint, 0), 0) AND id < {_id_of_oldest_attempt()}"
        " ORDER BY id LIMIT %(most)s) AS old"
        " ORDER BY 2 DESC"
    )


@all_tenants()  # a bound, by whoever's tasks
def _id_of_oldest_attempt() -> int:
    """Tasks from this id on have all attempts they ever had; 0: all tasks have."""
    oldest = next(iter(partitions("punctual_attempt")), None)
    if oldest is not None and oldest.since == EVER:
        return 0
    first: int
    ((first,),) = run("id_at", {"moment": oldest.since + LONGEST_TRANSACTION if oldest else timezone.now()})
    return first


def _passed(shard: int) -> str:
    """Up to where the timetable of a shard lies behind us, in a lane that is yet to be filled in."""
    return (
        "(SELECT (p.passed ->> '{lane}')::timestamptz FROM punctual_timetable p"
        f" WHERE p.shard = {shard} AND p.noted_at <= statement_timestamp())"
    )


def _by_due(wanted: Filter) -> Source:
    """The timetable is sorted within a shard and lane, and so is what waits apart; PostgreSQL merges these lists and
    reads only what it needs.

    Tasks of a type with a limit are sorted by type instead. No index has the ids: all that are due at the moment at
    which a page ends are read (WITH TIES), and sorted then.
    """
    places = [
        place
        for shard in all_shards()
        for place in (
            ("entry_at", f"shard = {shard} AND due_at IS NOT NULL AND wait_at IS NULL", _passed(shard)),
            ("wait_at", f"NOT limited AND shard = {shard}", "NULL"),
        )
    ]
    places += [
        ("wait_at", f"limited AND task_type = {Literal(task_type).as_string()}".replace("%", "%%"), "NULL")
        for task_type in limited_types()
    ]
    lists = " UNION ALL ".join(
        f"(SELECT id, {moment} FROM punctual_task WHERE {place} AND lane = '{lane}'"
        f" AND {moment} >= greatest(coalesce({_MOMENT}, %(due_from)s::timestamptz, '-infinity'),"
        f" {passed.format(lane=lane)})"
        f" AND {moment} < coalesce(%(due_to)s::timestamptz, 'infinity')"
        f" AND (%(at)s::text IS NULL OR ({moment}, id) > ({_MOMENT}, {_ID}))"
        + (f" AND {moment} <= (SELECT clock_timestamp())" if wanted.state == DUE else "")
        # Its own order and limit make each list a scan of the index, and the whole a merge of such scans. A limit that
        # PostgreSQL's planner knew would be more than the few rows that it expects between two bounds which it
        # doesn't know: then it would read all there are, and sort them.
        + f" ORDER BY {moment} FETCH FIRST (%(most)s) ROWS WITH TIES)"
        for moment, place, passed in places
        for lane in ([wanted.lane] if wanted.lane else LANES)
    )
    rows = (
        "SELECT id, due_at::text || '/' || id FROM ("
        f"SELECT id, due_at FROM ({lists}) AS scheduled(id, due_at)"
        " ORDER BY due_at FETCH FIRST (%(most)s) ROWS WITH TIES"
        ") AS first ORDER BY due_at, id"
    )
    return Source(rows, place=_moment_and_id)
