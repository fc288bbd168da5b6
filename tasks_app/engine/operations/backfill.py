"""Backfills as people and programs begin them: firings are looked for, foreseen in a dry run, and made a campaign."""

import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.backfill import PAGE, Which, firings_within, instant_of, microseconds
from tasks_app.core.campaigns import MOST, checked_cap, checked_most_running, checked_rate
from tasks_app.core.errors import InvalidTask, NothingToDo, shown
from tasks_app.core.firings import MISSED_SECONDS
from tasks_app.core.graphs import descendants_of
from tasks_app.core.jobs import Overlap, again_key, manual_key
from tasks_app.core.retention import RetentionClass
from tasks_app.core.schedule import Schedule
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.engine.watch.browse import Filter
from tasks_app.engine.watch.campaign_browse import with_holds
from tasks_app.engine.watch.forecast import Forecast, forecast, read_load
from tasks_app.engine.watch.listing import refuse_cold, walk_archive
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns.begin import OWN_LANE, SELECT_SECONDS, Slot, Stretch, start_backfill
from tasks_app.lifecycle.jobs.family import graph_of, root_of
from tasks_app.lifecycle.jobs.lock import database_now, number_of, unknown
from tasks_app.lifecycle.past import retention_of
from tasks_app.lifecycle.request import checked_instant
from tasks_app.models import AnyTask, Backfill, Campaign, JobDefinition
from tasks_app.sql import run

from .campaigns import Pace

MOST_JOBS = 100  # of one backfill
SHOWN = 3  # firings at each end that a dry run names
_CUT = "At most that many are chosen at once. Give a shorter range, or a larger cap, up to {most:,}."


@dataclass(frozen=True)
class BackfillRequest:
    """Which firings of which jobs: those from `since` to `until`, both included, by the present rule of each job."""

    jobs: Sequence[int]
    since: datetime
    until: datetime | None = None  # None: now
    which: str = Which.MISSING
    newest_first: bool = False
    tenant: str = DEFAULT_TENANT
    descendants: bool = True  # what comes after these jobs in their graphs comes along


class Foreseen(NamedTuple):
    """What a backfill would do, as things are now."""

    instances: int
    first: list[Slot]  # in its order
    last: list[Slot]
    forecast: Forecast
    names: dict[int, str]  # of its jobs
    words: str  # what it is for
    along: int = 0  # instances of other jobs that come along, at most: some may be there already


class _Chosen:
    """Firings in their order, as numbers: a million of them take 24 MB."""

    def __init__(self, jobs: Iterable[int] = (), fires: Iterable[int] = (), tasks: Iterable[int] = ()) -> None:
        self.jobs = array("q", jobs)
        self.fires = array("q", fires)  # microseconds since 1970
        self.tasks = array("q", tasks)  # the instances that are replayed; 0: one is made

    def __len__(self) -> int:
        return len(self.fires)

    def append(self, job: int, at: int, task: int) -> None:
        self.jobs.append(job)
        self.fires.append(at)
        self.tasks.append(task)

    def ordered(self, newest_first: bool) -> "_Chosen":
        """By time; jobs with a firing at the same moment keep the order in which they were given."""
        order = sorted(range(len(self)), key=self.fires.__getitem__, reverse=newest_first)
        return _Chosen(*(map(column.__getitem__, order) for column in (self.jobs, self.fires, self.tasks)))

    def part(self, first: int | None, last: int | None) -> list[Slot]:
        columns = (column[first:last] for column in (self.jobs, self.fires, self.tasks))
        return [Slot(job, instant_of(at), task) for job, at, task in zip(*columns, strict=True)]

    def moments(self) -> Iterator[list[tuple[int, int, int]]]:
        """Those of the same time together: time, job and task of each. Once they are in their order."""
        rows = zip(self.fires, self.jobs, self.tasks, strict=True)
        return (list(moment) for _, moment in groupby(rows, key=itemgetter(0)))

    def slots(self) -> Iterator[Slot]:
        for first in range(0, len(self), PAGE):
            yield from self.part(first, first + PAGE)


def foresee_backfill(request: BackfillRequest, pace: Pace = Pace()) -> Foreseen:  # noqa: B008  (it can't be changed)
    """The dry run: how many, the first and the last few, and when it would be done. Changes nothing."""
    found = _Search(request, pace)
    chosen = found.chosen
    along = found.along()
    lane = found.jobs[0].lane if pace.lane == OWN_LANE else pace.lane
    when = forecast(
        _by_type(Counter(chosen.jobs)),
        read_load(lane),
        lane,
        found.now,
        rate=pace.rate,
        most_running=pace.most_running,
        along=_by_type(along),
    )
    names = {job.id: job.name for job in found.jobs}
    ends = chosen.part(None, SHOWN), chosen.part(-SHOWN, None)
    return Foreseen(len(chosen), *ends, when, names, found.words, along.total())


def start(request: BackfillRequest, operator: Operator, pace: Pace = Pace()) -> Campaign:  # noqa: B008
    """A campaign that runs what the dry run has foreseen; NothingToDo if that is nothing.

    Called again with the same operation it returns the campaign that there is.
    """
    before: Campaign | None = Campaign.objects.filter(operation=operator.operation).first()
    if before is not None:
        return before
    found = _Search(request, pace)
    if not found.chosen:
        raise NothingToDo(f"Nothing to do for {found.words}; nothing was changed.")
    types = {job.task_type for job in found.jobs}
    return start_backfill(
        found.which,
        found.chosen.slots(),
        found.stretches,
        operator,
        **pace._asdict(),
        descendants=request.descendants,
        tenant=request.tenant,
        task_type=types.pop() if len(types) == 1 else None,
        selection=found.words,
        along=set(_by_type(found.along())),
    )


def backfills_of(job_id: int, count: int) -> list[Campaign]:
    """The latest that were for this job, as far as they are kept."""
    ids = Backfill.objects.filter(job=job_id).order_by("-campaign_id").values_list("campaign_id", flat=True)
    return with_holds(Campaign.objects.filter(id__in=list(ids[:count])).order_by("-id"))


class _Search:
    """The jobs of a request, and the firings that it is for."""

    def __init__(self, request: BackfillRequest, pace: Pace) -> None:
        checked_rate(pace.rate)
        checked_most_running(pace.most_running)
        self.cap, self.which, self.now = checked_cap(pace.cap), _checked_which(request.which), database_now()
        self.deadline = time.monotonic() + SELECT_SECONDS
        self.since, self.until = self._range(request)
        self.jobs = _jobs_of(request)
        graphed = [job.id for job in self.jobs if job.has_parents or job.has_children]
        self.graph = graph_of(graphed) if graphed else {}
        self.descendants = self._checked_descendants(request)
        self.roots = {job.id: root_of(job) for job in self.jobs}
        self.stretches = [self._stretch(job) for job in self.jobs]
        order = "newest" if request.newest_first else "oldest"
        self.words = _words(self.jobs, self.since, self.until, self.which, order, self._company())
        self._below = cache(lambda jobs: descendants_of(jobs, self.graph))
        self.chosen = self._first_of_each(self._chosen().ordered(request.newest_first))

    def _range(self, request: BackfillRequest) -> tuple[datetime, datetime]:
        since = checked_instant("since", request.since)
        until = self.now if request.until is None else checked_instant("until", request.until)
        if until > self.now:
            raise InvalidTask(
                f"until={until.isoformat()} is in the future; a backfill is for times that have passed. "
                "Leave it out for all until now."
            )
        if since > until:
            raise InvalidTask(
                f"since={since.isoformat()} is not before until={until.isoformat()}; give the earlier one as since."
            )
        # What is younger was not missed: its planner may merely be slow.
        return since, min(until, self.now - timedelta(seconds=MISSED_SECONDS))

    def _checked_descendants(self, request: BackfillRequest) -> bool:
        """Whether others come along at all."""
        if self.which is not Which.FAILED:
            return request.descendants and any(job.has_children for job in self.jobs)
        if not request.descendants:
            raise InvalidTask(
                f"descendants={request.descendants!r}: which={str(self.which)!r} replays instances that are there, and "
                "what waits for one goes on when it succeeds. Leave descendants out."
            )
        return False

    def _company(self) -> str:
        """With whom these jobs run, in words."""
        if self.which is Which.FAILED or not any(job.has_children for job in self.jobs):
            return ""
        return " with all that comes after" if self.descendants else " without what comes after"

    def along(self) -> Counter[int]:
        """By job, how many instances come along with the firings that are chosen."""
        along: Counter[int] = Counter()
        if self.descendants:
            together = Counter(frozenset(job for _, job, _ in moment) for moment in self.chosen.moments())
            for jobs, times in together.items():
                along.update(dict.fromkeys(self._below(jobs), times))
        return along

    def _first_of_each(self, chosen: _Chosen) -> _Chosen:
        """Without the jobs that come along with another of them at the same moment: they wait for that."""
        if not self.descendants or len(self.jobs) == 1:
            return chosen
        first = _Chosen()
        for moment in chosen.moments():
            along = self._below(frozenset(job for _, job, _ in moment))
            for at, job, task in moment:
                if job not in along:
                    first.append(job, at, task)
        return first

    def _stretch(self, job: JobDefinition) -> Stretch:
        root = self.roots[job.id]  # whose firings are those of the whole graph
        since = max(self.since, root.start_at) if root.start_at else self.since
        return Stretch(job.id, since, min(self.until, root.end_at) if root.end_at else self.until)

    def _chosen(self) -> _Chosen:
        chosen = _Chosen()
        for job, stretch in zip(self.jobs, self.stretches, strict=True):
            for at, task in self._of(job, stretch) if stretch.since <= stretch.until else ():
                if len(chosen) == self.cap:
                    raise InvalidTask(f"there are more than {self.cap:,} for {self.words}. " + _CUT.format(most=MOST))
                chosen.append(job.id, at, task)
        return chosen

    def _of(self, job: JobDefinition, stretch: Stretch) -> Iterator[tuple[int, int]]:
        """The firings of one job, and the instances to replay."""
        if self.which is Which.FAILED:
            yield from _dead(stretch)
            return
        archived = self._archived(job, stretch) if self.which is Which.MISSING else frozenset()
        for page in firings_within(_schedule_of(self.roots[job.id]), stretch.since, stretch.until, self.deadline):
            known = _known(job.id, page) | archived if self.which is Which.MISSING else archived
            yield from ((at, 0) for at in page if at not in known)

    def _archived(self, job: JobDefinition, stretch: Stretch) -> frozenset[int]:
        """The firings whose instances have left the database for the archive; refused if some are not even there."""
        kept = _retention(job)
        if stretch.since >= self.now - kept.hot:
            return frozenset()
        cold = bool(conf().ARCHIVE_URL)
        self._refuse_forgotten(job, stretch, self.now - (kept.cold if cold else kept.hot))
        if not cold:
            return frozenset()
        again, manual = again_key(job.id), manual_key(job.id)
        wanted = Filter(tenant=job.tenant, job=job.id, changed_from=stretch.since)
        refuse_cold(wanted)
        found = self._in_time(walk_archive(wanted))
        return frozenset(microseconds(task.fire_time) for task in found if not task.biz_key.startswith((again, manual)))

    def _in_time(self, rows: Iterable[AnyTask]) -> Iterator[AnyTask]:
        for row in rows:
            if time.monotonic() > self.deadline:
                raise InvalidTask(f"the archive took too long to search for {self.words}. Give a shorter range.")
            yield row

    def _refuse_forgotten(self, job: JobDefinition, stretch: Stretch, known_from: datetime) -> None:
        """Nobody can tell what is missing of a time in which the job fired, and whose tasks are not kept any more."""
        if stretch.since >= known_from:
            return
        before = Backfill.objects.filter(
            job=job.id, created_at__lt=known_from, since__lte=stretch.until, until__gte=stretch.since
        )
        if (job.created_at < known_from and job.created_at <= stretch.until) or before.exists():
            raise InvalidTask(
                f"what job {job.id} ran before {known_from:%Y-%m-%d %H:%M} UTC is no longer kept, so nobody can tell "
                f"which of its firings since {stretch.since.isoformat()} are missing. Begin later, or run all of "
                f"them again (which={str(Which.ALL)!r})."
            )


def _known(job_id: int, page: Sequence[int]) -> frozenset[int]:
    """Of this stretch, the firings that have their instance."""
    asked = {"job": job_id, "since": instant_of(page[0]), "until": instant_of(page[-1])}
    rows = run("known_firings", asked | {"manual": manual_key(job_id), "again": again_key(job_id)})
    return frozenset(microseconds(at) for (at,) in rows)


def _dead(stretch: Stretch) -> Iterator[tuple[int, int]]:
    asked = stretch._asdict() | {"manual": manual_key(stretch.job), "page": PAGE}
    after = (stretch.since, 0)
    while True:
        rows = run("dead_firings", asked | {"after": after[0], "after_id": after[1]})
        yield from ((microseconds(at), id_) for at, id_ in rows)
        if len(rows) < PAGE:
            return
        after = rows[-1]


def _jobs_of(request: BackfillRequest) -> list[JobDefinition]:
    """In the order in which they are named, each once."""
    wanted = list(dict.fromkeys(map(number_of, request.jobs)))
    if not wanted:
        raise InvalidTask("no job was named; a backfill is for one job or several.")
    if len(wanted) > MOST_JOBS:
        raise InvalidTask(f"{len(wanted):,} jobs were named; one backfill is for at most {MOST_JOBS}. Begin several.")
    found = {job.id: job for job in JobDefinition.objects.filter(tenant=request.tenant, id__in=wanted)}
    for given, id_ in zip(dict.fromkeys(request.jobs), wanted, strict=False):
        if id_ not in found:
            raise unknown(given)
    return [found[id_] for id_ in wanted]


def _by_type(jobs: Counter[int]) -> Counter[str]:
    types = dict(JobDefinition.objects.filter(id__in=list(jobs)).values_list("id", "task_type"))
    counts: Counter[str] = Counter()
    for job, count in jobs.items():
        if job in types:
            counts[types[job]] += count
    return counts


def _schedule_of(job: JobDefinition) -> Schedule:
    try:
        return job.schedule
    except InvalidTask as error:
        raise InvalidTask(f"the schedule of job {job.id} can't be read: {error}") from None


def _retention(job: JobDefinition) -> RetentionClass:
    """The class in which its instances are kept."""
    return retention_of(job.tenant, job.task_type)


def _checked_which(which: str) -> Which:
    if which not in list(Which):
        raise InvalidTask(f"which={shown(which)} is unknown; use {', '.join(Which)}.")
    return Which(which)


def _words(
    jobs: Sequence[JobDefinition], since: datetime, until: datetime, which: Which, order: str, company: str
) -> str:
    named = ", ".join(f"{job.name!r}" for job in jobs[:5]) + (f" and {len(jobs) - 5} more" if len(jobs) > 5 else "")
    firings = {Which.MISSING: "missing firings", Which.FAILED: "failed firings", Which.ALL: "all firings"}[which]
    stretch = f"from {since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M} UTC"
    return f"{firings} of {named}{company} {stretch}, {order} first{_turns_of(jobs)}"


def _turns_of(jobs: Sequence[JobDefinition]) -> str:
    """Which policy it follows where instances must not overlap; nothing where they may."""
    minding = [job for job in jobs if job.overlap != Overlap.ALLOW]
    if not minding:
        return ""
    whose = "" if len(minding) == len(jobs) else " of " + ", ".join(f"{job.name!r}" for job in minding[:5])
    more = f" and {len(minding) - 5} more" if whose and len(minding) > 5 else ""
    said = ", ".join(sorted({str(job.overlap) for job in minding}))
    return f"; those{whose}{more} one at a time, and behind whatever fires meanwhile (overlap: {said})"
