"""No statement reads what it does not need, however much there is beside it.

Each one is planned as the engine runs it, once for any parameter, beside some history and beside four times as much.
What the engine does most is run beside both, too, and may touch no more pages of our tables beside the larger one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import partial
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db import transaction
from django.test import override_settings
from django.utils import timezone

from django_punctual import cancel, ensure, find, find_many, reschedule, reschedule_many, schedule, schedule_many
from django_punctual.rolling import failing_keys
from tasks_app import scope, sql
from tasks_app.core.overdue import Answer
from tasks_app.engine.beat.alarms.looking import look as look_around
from tasks_app.engine.beat.alarms.reading import read_events
from tasks_app.engine.beat.counting import count
from tasks_app.engine.beat.hours import keep_hours
from tasks_app.engine.beat.leases import Leases
from tasks_app.engine.beat.levels import step as judge_minutes
from tasks_app.engine.beat.relay.reader import Cursor, read
from tasks_app.engine.beat.relay.windows import merge_windows
from tasks_app.engine.beat.roll_up import roll_up
from tasks_app.engine.beat.safeguards.guard import guard
from tasks_app.engine.channels.sending import send_waiting
from tasks_app.engine.operations.backfill import BackfillRequest, foresee_backfill
from tasks_app.engine.operations.backfill import start as start_backfill
from tasks_app.engine.operations.campaigns import Pace, start_matching
from tasks_app.engine.operations.quarantine import preview as preview_overdue
from tasks_app.engine.operations.quarantine import resume as resume_installation
from tasks_app.engine.watch.audit_browse import AuditFilter, page_of_entries
from tasks_app.engine.watch.browse import Filter, browse
from tasks_app.engine.watch.campaign_browse import CampaignFilter, page_of_campaigns
from tasks_app.engine.watch.figures import next_hour
from tasks_app.engine.watch.job_browse import JobFilter, Sort, last_runs, page_of_instances, page_of_jobs, sorted_jobs
from tasks_app.engine.watch.job_history import read_history
from tasks_app.engine.watch.letters import LetterFilter, page_of_letters
from tasks_app.engine.watch.listing import page_of_tasks
from tasks_app.engine.watch.runs import RunFilter, page_of_runs
from tasks_app.engine.watch.service_levels import read_levels
from tasks_app.engine.watch.site_status import last_choices, read_sites
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.why import why_job, why_task
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.alarms.incidents import calm_due, tell_due
from tasks_app.lifecycle.audit import Entry, audit
from tasks_app.lifecycle.audit_chain import chain
from tasks_app.lifecycle.campaigns import steps
from tasks_app.lifecycle.claim import ClaimedBatch, LaneShare, claim, claim_chosen, peek, read_due
from tasks_app.lifecycle.installation import look as look_at_installation
from tasks_app.lifecycle.installation import quarantine, touch
from tasks_app.lifecycle.jobs.family import graph_of
from tasks_app.lifecycle.jobs.planning import plan_due
from tasks_app.lifecycle.jobs.run import read_lines, read_run
from tasks_app.lifecycle.jobs.verbs import edit
from tasks_app.lifecycle.logs import Lines, keep_logs
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.overdue import step as step_overdue
from tasks_app.lifecycle.past import move_batches, move_strays
from tasks_app.lifecycle.progress import Told, forget_progress, tell_progress
from tasks_app.lifecycle.reap import reap, rescue_stranded
from tasks_app.lifecycle.release import release_children, walk
from tasks_app.lifecycle.site import activate as activate_site
from tasks_app.lifecycle.site import open_chosen, resume_step
from tasks_app.lifecycle.start import start
from tasks_app.lifecycle.taken_back import (
    SeenBatch,
    SeenTask,
    ToldRow,
    note_lost_batches,
    note_lost_events,
    note_lost_run,
)
from tasks_app.lifecycle.turns import give_turns, to_decide
from tasks_app.lifecycle.view import history
from tasks_app.metrics.reading import read as scrape
from tasks_app.models import (
    AnyTask,
    Campaign,
    DlqEntry,
    GraphRun,
    HourFigures,
    JobDefinition,
    OutboxWindow,
    PulseReader,
    ScheduleTask,
    TaskBatch,
    Turn,
)
from tests.support.engine import anybodys
from tests.support.graphs import begun, family, job_named
from tests.support.history import GROWING, LIMITED, TYPE, History, another_database
from tests.support.operators import operator
from tests.support.plans import ROWS, Scan, Tables, generic_plan, names, scans, statements

pytestmark = pytest.mark.django_db

SIZES = [20_000, pytest.param(1_250_000, marks=pytest.mark.scale)]
TIMES = 4
FEW = 100  # rows
FEW_IDS = 5_000  # of a walk: fewer than there are in the smaller history, too
DAY = 86_400.0

# What reads a whole table, and why nothing better is known.
WHOLE = {
    "compare_keys": "it compares all that waits of a type with all rows of an app; in its own chore",
    "waiting_keys": "the same, and only what has a limit is indexed by its type: every claim would pay for more",
    "events_near": "the windows of all minutes; asked by a person, who wants the events of a task",
    "events_of_tasks": "it looks through what was told in a time, for a person who asked for the story of a unit",
    "firing_groups": "it counts all jobs by their schedule; asked by people, and kept for a minute",
    "check_replaced_once live": "it compares all that is live with each other; asked by people",
    "check_replaced_once past": "the same, of all that there is",
    "gather_all": "the first window of events, and the one after a restore, have all there is; once each",
    "first_work_after": "live batches alone, once when a recovery is begun after the server was recovered or promoted",
}
# Of what PostgreSQL's planner expects more in a larger table, since it doesn't know the parameters: what it really is.
EXPECTED_TO_GROW = {
    "gather_window": "what was committed since the last window, in an index by transaction; run below",
    "ended_pauses": "jobs whose pause has ended, in an index of those whose pause ends; run below",
    "outlook": "it counts what is scheduled, step by step, in an index alone",
    "pace_before": "the minutes of a day",
    "day_load": "the same",
    "recent_runs": "the batches of a few seconds; run below",
    "recent_deaths": "the dead letters of a few seconds, between two numbers; run below",
    "count_sample": "a share of the pages that gets smaller with the table",
    "count_used": "the same; for tenants with a quota",
    "may_be_near": "the same, a fifth of it",
    "note_used": "what tenants have used in two hours, in an index by hour",
    "count_quotas": "the same",
    "canary_returns": "the minutes since the last one that was judged; run below",
    "service_figures": "the same",
    "roll_up": "the minutes since the last one that is there; run below",
    "roll_up_hours": "the minutes of a few hours; run below",
    "late_minutes": "what finished in three hours, once an hour; run below",
    "mend_minute": "what finished in one minute",
    "status_minutes": "the last hour; run below",
    "status_sample": "a share of the pages that gets smaller with the table",
    "trim_trails": "the places of a trail whose months were dropped, in an index by tenant; once a month",
    "worker_batches": "the last 2,000 batches and no more, in an index by their end",
    "take_chores": "whether there is a campaign that runs, in an index of those; run below",
}


def claim_new(count: int) -> list[ClaimedBatch]:
    schedule_many(TYPE, [{"key": f"new {n}"} for n in range(count)])
    return claim([LaneShare("default", 100, 10)], {TYPE: 100}, "test", anybodys())


def claim_of_a_crowd() -> None:
    schedule_many(TYPE, [{"key": f"new {n}"} for n in range(20)])
    since = dict.fromkeys(range(16), timezone.now() - timedelta(minutes=1))
    found = read_due("default", since, dict.fromkeys(since, 100), ["tenant-7"], light=100)
    ids = [id_ for one in found.tenants for id_ in one.ids]
    assert sum(batch.size for batch, _ in claim_chosen(ids, "default", 10, {TYPE: 100}, "test", anybodys())) >= 20


def claim_and_run() -> None:
    assert sum(run_batch(UUID(batch.batch_no), guarded=False).settled for batch in claim_new(20)) == 20


def sum_up_an_hour() -> None:
    """The last one; those before it are there."""
    before = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
    HourFigures.objects.create(hour=before, batches=1, returned=0, ok=1, failed=0, lateness=[1])
    keep_hours()


def lose_and_reap() -> None:
    (lost,) = claim_new(1)
    TaskBatch.objects.filter(batch_no=lost.batch_no).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert len(reap()) == 1


def finish_and_move() -> None:
    claim_and_run()
    (newest,) = TaskBatch.objects.order_by("-finished_at")[:1]
    ScheduleTask.objects.filter(id__in=newest.ids).update(updated_at=timezone.now() - timedelta(days=2))
    TaskBatch.objects.filter(batch_no=newest.batch_no).update(finished_at=timezone.now() - timedelta(days=1))
    assert move_batches()[:2] == (1, 20)


def a_window(**others: object) -> None:
    ((snapshot,),) = sql.execute("SELECT pg_current_snapshot()::text")
    whole = {"no": 1, "after": snapshot, "min_id": 1, "max_id": 10**9, "count": 1, "system": 1}
    whole |= {"min_at": timezone.now() - timedelta(days=400), "max_at": timezone.now() + timedelta(days=1)}
    OutboxWindow.objects.create(**whole | others)


def cut_a_window() -> None:
    a_window()
    sql.run("gather_window", {})


def read_windows() -> None:
    a_window()
    assert read(Cursor(0), lambda tenant, event, task_type: True, most=100).events


def tell_of_a_run() -> None:
    [claimed] = claim_new(5)
    batch = start(UUID(claimed.batch_no), "test")
    assert len(tell_progress(batch.batch_no, [Told(task.id, 0.5, "") for task in batch.tasks])) == 5
    keep_logs(batch.batch_no, [Lines(task.id, 1, 0, [(1.5, "", "a line")]) for task in batch.tasks])
    assert find(TYPE, "new 1").progress.fraction == 0.5
    forget_progress([task.id for task in batch.tasks])


def look_for_alarms() -> None:
    for step in (read_events, read_events, look_around, calm_due, tell_due):
        step()


def look_at_safeguards() -> None:
    guard()  # the first look begins
    claim_and_run()
    PulseReader.objects.update(read_until=timezone.now() - timedelta(seconds=30))
    TaskBatch.objects.filter(finished_at__gt=timezone.now() - timedelta(seconds=20)).update(
        finished_at=timezone.now() - timedelta(seconds=10)
    )
    assert guard() is not None


def look_for(**wanted: object) -> Callable[[], object]:
    return lambda: browse(Filter(**wanted), size=20, seconds=0)


# What people ask of the views of docs/requirements.md, in SQL of their own.
VIEWS = {
    "a job instance": "SELECT * FROM punctual_job_instance WHERE instance_id = %(id)s::bigint",
    "instances of a job": "SELECT * FROM punctual_job_instance"
    " WHERE job_id = %(job)s::bigint AND fire_time > %(since)s::timestamptz",
    "a retry": "SELECT * FROM punctual_retry_entry WHERE instance_id = %(id)s::bigint",
    "a dead task": "SELECT * FROM punctual_dlq_entry WHERE instance_id = %(id)s::bigint",
    "a job definition": "SELECT * FROM punctual_job_definition WHERE job_id = %(job)s::bigint",
}


def read_view(name: str) -> None:
    given = {"id": 77, "job": 20, "since": timezone.now() - timedelta(days=2)}
    sql.execute(VIEWS[name], {key: value for key, value in given.items() if f"%({key})s" in VIEWS[name]})


def lists_of(tenant: str) -> dict[str, Callable[[], object]]:
    """What members of a tenant look at, in the role of their requests."""

    def in_scope(read: Callable[[], object]) -> None:
        with scope.request():
            scope.settle(tenant)
            read()

    def tasks(**wanted: object) -> Callable[[], object]:
        return lambda: page_of_tasks(Filter(tenant, **wanted), size=20, seconds=0)

    lists = {
        "all": tasks(),
        "by key": tasks(key="key-77"),
        "by prefix": tasks(key_prefix="key-0"),
        "by job": tasks(job=20),
        "dead": tasks(state="DEAD"),
        "running": tasks(state="RUNNING"),
        "due": tasks(state="DUE"),
        "by run": tasks(ran_from=timezone.now() - timedelta(days=2)),
        "of dead letters": lambda: page_of_letters(LetterFilter(tenant), None, 20),
        "of jobs": lambda: page_of_jobs(JobFilter(tenant), "job-77", 20),
        "of runs": lambda: read_lines(page_of_runs(RunFilter(tenant, 77), None, 20)[0]),
        "of campaigns": lambda: page_of_campaigns(CampaignFilter(tenant), None, 20),
        "of the audit": lambda: page_of_entries(AuditFilter(tenant), None, 20),
        **{f"in SQL: {name}": partial(read_view, name) for name in VIEWS},
    }
    return {f"list {name} as {tenant}": partial(in_scope, read) for name, read in lists.items()}


def take_chores() -> None:
    names = ["reap", "lose", "campaign", "alarm", "alert"]
    given = {"node_id": uuid4(), "name": "test", "site": "main", "dispatching": False, "figures": None}
    sql.run("declare_chores", {"names": names})
    given |= {"names": names, "everys": [1.0] * len(names), "wanted": [], "keep": DAY, "done": ["reap"], "ago": [1.0]}
    assert ("campaign",) not in sql.run("take_chores", given)


def replay_some() -> None:
    """A campaign: its choice, its step, and a look at what came of it."""
    campaign = start_matching(Verb.REPLAY, Filter(state="DEAD"), operator(), Pace(cap=20))
    assert steps.step("test").tasks == 20
    Campaign.objects.filter(id=campaign.id).update(measure_at=timezone.now() - timedelta(days=1))
    assert steps.measure() == 20
    assert page_of_campaigns(CampaignFilter("default"), None, 20)[0]


def plan_a_graph() -> None:
    family(a=["root"], b=["root"], c=["a", "b"])
    begun()


def release_a_graph() -> None:
    plan_a_graph()
    root = ScheduleTask.objects.get(job=job_named("root").id)
    ScheduleTask.objects.filter(id=root.id).update(status="SUCCESS", due_at=None)
    assert release_children([root.id]).tasks == 2


def give_some_turns() -> None:
    turns = Turn.objects.filter(state=Turn.NEW, job__in=JobDefinition.objects.filter(id__lte=100).values("id"))
    tasks = list(turns.order_by("task").values_list("task", flat=True)[:20])
    ScheduleTask.objects.filter(id__in=tasks).update(status="BLOCKED", due_at=None)
    Turn.objects.filter(task__in=tasks).update(at=timezone.now() - timedelta(seconds=1))
    found = to_decide(range(16))
    assert give_turns(found.jobs).released == 20


def backfill_some() -> None:
    """Its choice among what is there, the step that makes the instances, and an edit that leaves them alone."""
    job = JobDefinition.objects.get(name="job-77")
    until = timezone.now() - timedelta(hours=1)
    start_backfill(BackfillRequest([job.id], until - timedelta(days=1), until), operator())
    assert steps.step("test").tasks == 24
    assert foresee_backfill(BackfillRequest([job.id], until - timedelta(days=1), until, "failed")).instances == 0
    edit(job.id, {"max_retry": 1}, operator())


def a_cause() -> str:
    return DlqEntry.objects.filter(replay_status=DlqEntry.OPEN).values_list("fingerprint", flat=True)[0]


def expire_some() -> None:
    """What is overdue: counted, ordered, and one page of it done."""
    quarantine("a test")
    resume_installation(Answer.checked("expire", older_seconds=0.0), operator())
    assert step_overdue(20).tasks >= 0


def choose_a_site() -> None:
    """All of a choice, and the first lanes going on."""
    look_at_installation()
    row = activate_site("b", operator())
    assert open_chosen(row) == []
    assert not resume_step()


def look_for_lost() -> None:
    """What a worker has settled and a beat has told, on a server that knows none of it."""
    row = look_at_installation()
    now = timezone.now()
    task = SeenTask(1, "default", "T_PLAIN", "k")
    note_lost_batches(row, [SeenBatch(uuid4(), [task])] * 50, now - timedelta(hours=1))
    note_lost_run(row, SeenBatch(uuid4(), [task]), now - timedelta(hours=1))
    note_lost_events(row, [ToldRow(10**12 + n, now, "task.succeeded", "them", [task]) for n in range(50)])


# What people wait for, and what comes many times a second or a minute.
DOES = {
    "peek": lambda: peek("test", range(16), besides=True),
    "claim, start and settle": claim_and_run,
    "claim of a crowd": claim_of_a_crowd,
    "schedule": lambda: schedule_many(TYPE, [{"key": f"new {n}", "idem_key": f"new {n}"} for n in range(20)]),
    "schedule what is over": lambda: schedule(TYPE, "key-77"),
    "ensure what is over": lambda: ensure(TYPE, "key-77", delay=60),
    "reschedule": lambda: reschedule(TYPE, "live-77", delay=60),
    "reschedule what runs": lambda: (claim_new(1), reschedule(TYPE, "new 0", delay=60)),
    "reschedule many": lambda: reschedule_many(TYPE, [{"key": f"live-{n}", "delay": 60} for n in (77, 78)]),
    "cancel": lambda: cancel(TYPE, "live-77"),
    "cancel what is over": lambda: cancel(TYPE, "key-77"),
    "find": lambda: find(TYPE, "live-77"),
    "find what is over": lambda: find(TYPE, "key-77"),
    "find many": lambda: find_many([TYPE], [f"{one}-{n}" for one in ("live", "key") for n in range(1, 11)]),
    "reap": lose_and_reap,
    "reap nothing": reap,
    "move": finish_and_move,
    "move nothing": move_batches,
    "move strays": lambda: move_strays(0, FEW_IDS),
    "rescue": lambda: rescue_stranded(0, FEW_IDS),
    "roll up": roll_up,
    "sum up an hour": sum_up_an_hour,
    "count": count,
    "scrape": scrape,
    "judge minutes": judge_minutes,
    "service levels": read_levels,
    "plan": lambda: plan_due(range(16), 60.0),
    "plan nothing": lambda: sql.run("to_plan", {"shards": list(range(16)), "ahead": 60.0}),
    "give turns": give_some_turns,
    "give no turn": lambda: to_decide(range(16)),
    "end pauses": lambda: sql.run("ended_pauses", {"after": 0, "most": 100}),
    "prune answers": lambda: sql.run("prune_idempotency", {"keep": 10 * DAY, "step": 100}),
    "prune alerts": lambda: sql.run("prune_alerts", {"keep": 10 * DAY, "step": 100}),
    "prune incidents": lambda: sql.run("prune_incidents", {"keep": 10 * DAY, "step": 100}),
    "look for alarms": look_for_alarms,
    "look at safeguards": look_at_safeguards,
    "send alerts": send_waiting,
    "tell of a run": tell_of_a_run,
    "prune traces": lambda: sql.run("prune_traces", {"after": 0, "step": 100}),
    "prune outcomes": lambda: sql.run("prune_away_outcomes", {"keep": 10 * DAY, "step": 100}),
    "prune progress": lambda: sql.run("prune_progress", {"after": 0, "keep": 3600.0, "step": 100}),
    "prune revisions": lambda: sql.run("prune_revisions", {"after": 0, "keep": DAY, "step": 100}),
    "cut a window": cut_a_window,
    "read events": read_windows,
    "merge windows": merge_windows,
    "take chores": take_chores,
    "jobs by their last result": lambda: sorted_jobs(JobFilter("default"), Sort.RESULT, 20),
    "the history of a job": lambda: read_history(JobDefinition.objects.get(name="job-77").id, UTC),
    "look at the installation": lambda: (look_at_installation(), touch()),
    "hold shards": lambda: Leases(uuid4(), "test", lambda _: None).run_once(),
    "what a failover took back": look_for_lost,
    "what is overdue": lambda: preview_overdue(most=50),
    "expire": expire_some,
    "activate a site": choose_a_site,
    "look at the sites": lambda: (read_sites(), last_choices(10)),
    "replay": replay_some,
    "plan a graph": plan_a_graph,
    "release": release_a_graph,
    "read a graph": lambda: graph_of([100_000_077]),
    "read a run": lambda: read_run(GraphRun.objects.order_by("id")[7]),
    "list runs": lambda: read_lines(page_of_runs(RunFilter("default", 77), None, 20)[0]),
    "prune runs": lambda: sql.run("prune_runs", {"keep": 10 * DAY, "step": 100}),
    "walk over what waits": lambda: walk(0),
    "backfill": backfill_some,
    "prune campaigns": lambda: sql.run("prune_campaigns", {"keep": 2 * DAY, "step": 1}),
    "status": read_status,
    "next hour": next_hour,
    "failing": lambda: failing_keys(TYPE, most=20),
    "why": lambda: why_task(AnyTask.objects.get(id=77)),
    "why a job": lambda: why_job(JobDefinition.objects.get(name="job-77")),
    "jobs by name": lambda: page_of_jobs(JobFilter("default"), "job-77", 20),
    "jobs by type": lambda: page_of_jobs(JobFilter("default", task_type=TYPE), "job-77", 20),
    "history of a unit": lambda: history(TYPE, "key-77"),
    "instances of a job": lambda: page_of_instances(Filter(job=20), None, 20),
    "last runs of jobs": lambda: last_runs(range(1, 20)),
    "chain": lambda: (audit(operator(), "test", [Entry("task 1", "tested", tenant="tenant-7")]), chain()),
    "audit": lambda: page_of_entries(AuditFilter("tenant-7", task_id=700), None, 20),
    "dead letters": lambda: page_of_letters(LetterFilter(), None, 20),
    "dead letters of a cause": lambda: page_of_letters(LetterFilter(fingerprint=a_cause()), None, 20),
    "dead letters by tag": lambda: page_of_letters(LetterFilter("default", tag="odd"), None, 20),
    **{f"read {name}": partial(read_view, name) for name in VIEWS},
    "list all": look_for(),
    "list by key": look_for(key="key-77"),
    "list by prefix": look_for(key_prefix="key-0"),
    "list by unit": look_for(unit=("default", TYPE, "key-77")),
    "list by job": look_for(job=20),
    "list dead": look_for(state="DEAD"),
    "list running": look_for(state="RUNNING"),
    "list failed": look_for(state="FAIL"),
    "list scheduled": look_for(state="INIT"),
    "list due": look_for(state="DUE"),
    "list by due time": look_for(due_from=timezone.now() + timedelta(days=1), task_type=LIMITED),
    "list by run": look_for(ran_from=timezone.now() - timedelta(days=2)),
    "list by change": look_for(changed_from=timezone.now() - timedelta(days=2), state="CANCELLED"),
    # Row-level security adds a condition to each: whoever has all of it, and whoever has next to nothing.
    **lists_of("default"),
    **lists_of("tenant-7"),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """All of it beside one size of history."""

    planned: dict[str, list[Scan]]
    touched: dict[str, int]  # pages of our tables and their indexes


def see(history: History) -> Seen:
    tables = Tables()
    planned = {name: list(scans(generic_plan(text), tables)) for name, text in (statements() | VIEWS).items()}
    return Seen(planned, {name: pages_touched(history, deed) for name, deed in DOES.items()})


def pages_touched(history: History, deed: Callable[[], object]) -> int:
    taken_back(history, deed)  # fills caches and sets hint bits
    history.vacuum_live()
    before = history.pages_read()
    taken_back(history, deed)
    return history.pages_read() - before


def taken_back(history: History, deed: Callable[[], object]) -> None:
    with transaction.atomic():
        deed()
        [(wrote,)] = sql.execute("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
        history.untidy |= wrote
        transaction.set_rollback(True)


@pytest.fixture(scope="module", params=SIZES)
def seen(request, django_db_setup, django_db_blocker):
    """Beside some history, and beside four times as much."""
    patient = settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": DAY / 2}  # however long it takes, nothing of it is to be moved
    with django_db_blocker.unblock(), override_settings(PUNCTUAL=patient), another_database():
        history = History()
        history.grow(request.param)
        small = see(history)
        history.grow(TIMES * request.param)
        yield small, see(history)


def of_growing(found: list[Scan]) -> list[Scan]:
    return [scan for scan in found if scan.table in GROWING]


def test_every_statement_is_planned():
    with_rows = {name for name in names() if "--rows" in sql._text(name)}

    assert with_rows == ROWS.keys()
    assert {name for name, text in statements().items() if re.search(r"^--\w+$", text, re.MULTILINE)} == set()
    assert len(statements()) > 80


def test_no_statement_reads_a_whole_table(seen):
    _, large = seen
    whole = {
        name: sorted({scan.table for scan in of_growing(found) if scan.whole})
        for name, found in large.planned.items()
        if any(scan.whole for scan in of_growing(found))
    }

    assert {name: tables for name, tables in whole.items() if name not in WHOLE} == {}


def test_no_statement_is_expected_to_read_more_beside_a_larger_history(seen):
    small, large = ({name: most_expected(found) for name, found in one.planned.items()} for one in seen)
    known = WHOLE.keys() | EXPECTED_TO_GROW.keys()
    more = [
        (name, table, small[name].get(table, 0.0), rows)
        for name in large.keys() - known
        for table, rows in large[name].items()
        if rows > max(FEW, 2 * small[name].get(table, 0.0))
    ]

    assert more == []


def most_expected(found: list[Scan]) -> dict[str, float]:
    """Of each table, the rows of its largest scan that no LIMIT ends."""
    most: dict[str, float] = {}
    for scan in of_growing(found):
        if not scan.bounded:
            most[scan.table] = max(scan.rows, most.get(scan.table, 0.0))
    return most


def test_no_bound_is_a_clock_that_moves_on(seen):
    """`<= clock_timestamp()` is asked of each row; `<= (SELECT clock_timestamp())` is looked up in an index."""
    _, large = seen
    slow = [
        name
        for name, found in large.planned.items()
        if any("clock_timestamp" in scan.filter for scan in of_growing(found))
    ]

    assert slow == []


def test_what_is_done_touches_no_more_pages_beside_a_larger_history(seen):
    small, large = seen
    # Some pages of the catalogue more, if a table was analysed in between.
    more = {
        deed: (pages, large.touched[deed])
        for deed, pages in small.touched.items()
        if large.touched[deed] > 2 * pages + 60
    }

    assert more == {}
