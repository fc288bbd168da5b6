"""Why is this not running? The one rule that keeps a task or a job waiting, in words to act on. Reads only."""

from collections import Counter
from datetime import datetime, timedelta

from tasks_app.conf import conf
from tasks_app.core import safeguards
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.errors import InvalidTask
from tasks_app.core.graphs import NOT_NEEDED, When
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.hosts import HOST_LIMIT, HOST_UNWELL, host_of
from tasks_app.core.jobs import JobStatus
from tasks_app.core.phrases import counted, first_line, span
from tasks_app.core.receivers import receiver_of
from tasks_app.core.recovery import CURB as RECOVERY
from tasks_app.core.rules import Reason, Rule
from tasks_app.core.safeguards import Kind
from tasks_app.core.schedule import in_zone
from tasks_app.core.sharding import home_of
from tasks_app.core.states import UNDER_WAY, Status
from tasks_app.engine.canary import canaries
from tasks_app.lifecycle.anywhere import tasks_by_id
from tasks_app.lifecycle.jobs.parents import names_of
from tasks_app.lifecycle.jobs.view import MOST_NAMED, known_zone, state_of
from tasks_app.lifecycle.progress import progress_of
from tasks_app.lifecycle.rehearsal import lies_aside
from tasks_app.models import (
    AnyTask,
    AwayTask,
    Curb,
    HeldTask,
    JobDefinition,
    RehearsedTask,
    ScheduleTask,
    TaskAttempt,
    TaskBatch,
    TaskWait,
    Tenant,
)
from tasks_app.scope import all_tenants
from tasks_app.sql import run

from . import fleet_status
from .host_status import health_of
from .installation_status import REHEARSING, WAY_OUT, read_view
from .status import nobody_dispatches, read_nodes

COUNTED = 10_000  # tasks before this one, at most
UNKNOWN = "UNKNOWN_HANDLER"
LONGEST_HOST_WAIT = timedelta(hours=1, minutes=5)  # as long as a receiver may ask for, and some more
INSTANCES = 200  # of a job that are looked at, the newest


def why_task(task: ScheduleTask) -> Reason:
    if task.status == Status.RUNNING:
        return _running(task)
    if task.status == Status.AWAY:
        return _away(task)
    if task.status == Status.BLOCKED:
        return _waits_for_turn(task) or _blocked(task)
    if task.due_at is None:
        return _finished(task)
    now = run("clock", {})[0][0]
    if task.due_at <= now:
        return _due(task, now)
    return _rehearsed(task) or _held(task) or _waits_for_host(task, now) or _not_due(task, now)


def why_job(job: JobDefinition) -> Reason:
    state = state_of(job)
    if state.rule == Rule.JOB_PAUSED:
        return _paused(job, state)
    newest = list(AnyTask.objects.filter(job=job.id).order_by("-fire_time")[:INSTANCES])
    open_ones = [task for task in reversed(newest) if task.live]
    # What waits is asked about; what runs is a reason only if nothing does.
    held = next((task for task in open_ones if task.status not in UNDER_WAY), open_ones[0] if open_ones else None)
    if (stopped := _tenant_suspended(job.tenant)) is not None:
        return stopped
    if held is not None:
        reason = why_task(held)
        which = f"Its instance {held.id} of {in_zone(held.fire_time, known_zone(job))}:"
        return Reason(reason.rule, f"{which} {reason.words}", f"{which} {reason.outside or reason.words}")
    if state.rule != Rule.NOT_DUE:
        return state
    if REGISTRY.get(job.task_type) is None:
        words = f"There is no handler {job.task_type!r} here. Deploy the code that has it."
        return Reason(Rule.UNKNOWN_HANDLER, words)
    return _no_dispatcher() or _shard_without_dispatcher(job.shard) or state


def _blocked(task: ScheduleTask) -> Reason:
    """What a person has decided, then a parent that failed, then those that are not over."""
    job = JobDefinition.objects.filter(id=task.job).first() if task.job else None
    if job is not None and job.status == JobStatus.PAUSED:
        return _paused(job, state_of(job))
    noted = dict(TaskWait.objects.filter(task=task.id).values_list("parent", "ended"))
    found = tasks_by_id(list(noted))
    parents = found.values()
    names = names_of({parent.job for parent in parents} - {None})
    failed = [one for one in parents if one.status in (Status.DEAD, Status.CANCELLED)]
    if failed and (job is None or job.when == When.ALL_SUCCESS):
        first = min(failed, key=lambda one: one.id)
        how = "gave up" if first.status == Status.DEAD else "was cancelled"
        words = f"It waits for {names.get(first.job, 'a job')!r}, which {how} (task {first.id}: {first.error_code})"
        more = f", and for {counted(len(failed) - 1, 'other')} that failed" if len(failed) > 1 else ""
        remedy = f"Retry task {first.id}" if first.status == Status.DEAD else "Run the graph again from there"
        return Reason(Rule.PARENT_FAILED, f"{words}{more}. {remedy}, or cancel this one.")
    lost = sorted(one for one, how in noted.items() if one not in found and how not in (Status.SUCCESS, NOT_NEEDED))
    if lost and (job is None or job.when == When.ALL_SUCCESS):
        how = "gave up" if noted[lost[0]] == Status.DEAD else "was cancelled or taken back"
        words = f"It waits for task {lost[0]}, which {how} and is no longer kept."
        return Reason(Rule.PARENT_FAILED, f"{words} Run the graph again from there, or cancel this one.")
    waited = sorted((one for one in parents if one.live), key=lambda one: one.id)
    if not waited:
        return Reason(Rule.BLOCKED, "All that it waited for is over; a beat looks at it within seconds.")
    few = ", ".join(f"{names.get(one.job, 'a job')!r} (task {one.id}, {one.status})" for one in waited[:MOST_NAMED])
    more = f" and {len(waited) - MOST_NAMED:,} more" if len(waited) > MOST_NAMED else ""
    return Reason(Rule.BLOCKED, f"It waits for {few}{more}.")


def _paused(job: JobDefinition, state: Reason) -> Reason:
    words = state.words if state.words.endswith((".", "!", "?")) else f"{state.words}."
    if job.paused_until is None or job.paused_until > run("clock", {})[0][0]:
        return Reason(state.rule, words)
    return _no_dispatcher() or Reason(state.rule, f"{words} That has passed: a beat resumes it within seconds.")


def _waits_for_turn(task: ScheduleTask) -> Reason | None:
    rows = run("waits_for", {"task": task.id, "most": COUNTED})
    if not rows:
        return None
    [(at, later, holder, fire_time, before)] = rows
    if later:
        return Reason(Rule.NOT_DUE, f"It is not due until {_instant(at)}.")
    if holder is None:
        words = "It is its turn: a beat lets it go within a second."
        return _no_dispatcher() or Reason(Rule.WAITS_FOR_TURN, words)
    line = f" {counted(before, 'other instance')} {'waits' if before == 1 else 'wait'} before it." if before else ""
    older = f"Instance {holder} of its job, fired for {_instant(fire_time)}, is under way"
    return Reason(Rule.WAITS_FOR_TURN, f"{older}, and the job lets no two overlap.{line}")


def _finished(task: ScheduleTask) -> Reason:
    if task.status == Status.SUCCESS:
        return Reason(Rule.DONE, f"It ran on {_instant(task.start_time)}.")
    if not task.current:
        return Reason(Rule.SUPERSEDED, "It is over: a newer task has taken its place.")
    if task.status == Status.DEAD:
        tries = "1 failure" if task.attempt == 1 else f"{task.attempt} failures"
        return Reason(Rule.DEAD, f"It gave up after {tries}: {task.error_code}: {_message(task)}. Retry it.")
    by = f" by {task.cancelled_by}" if task.cancelled_by else ""
    return Reason(Rule.CANCELLED, f"It was cancelled{by}: {_message(task) or task.error_code}.")


def _running(task: ScheduleTask) -> Reason:
    batch = TaskBatch.objects.filter(batch_no=task.batch_no).first()
    if batch is None or batch.finished_at is not None:
        return Reason(
            Rule.LOST, "Its batch is gone; it is due again within ten minutes, when the beats look for such tasks."
        )
    if batch.started_at is not None:
        return _started(task, batch)
    words = f"It was claimed at {_instant(batch.claimed_at)} and is waiting for a worker."
    return (
        _closed()
        or _lane_paused(task)
        or _no_worker(task)
        or Reason(Rule.WAITS_FOR_SLOT, f"{words}{_failed_before(task)}")
    )


def _started(task: ScheduleTask, batch: TaskBatch) -> Reason:
    since = f"since {_instant(batch.started_at)}"
    there = f"{since} on {batch.worker}"
    if batch.lease_until < run("clock", {})[0][0]:
        silent = "but that worker has gone silent and its lease has run out: it is due again within seconds, when a"
        return Reason(
            Rule.WORKER_SILENT, f"It ran {there}, {silent} beat looks.", f"It ran {since}, {silent} beat looks."
        )
    before = _how_far(task, batch.started_at) + _failed_before(task)
    if len(batch.ids) == 1:
        return Reason(Rule.RUNNING, f"It has been running {there}.{before}", f"It has been running {since}.{before}")
    many, turn = f"Its batch of {len(batch.ids):,} has been running", f"it runs now, or its turn is coming.{before}"
    return Reason(Rule.RUNNING, f"{many} {there}: {turn}", f"{many} {since}: {turn}")


def _away(task: ScheduleTask) -> Reason:
    held = AwayTask.objects.filter(task=task.id).first()
    if held is None:
        return Reason(
            Rule.LOST, "Nobody has it any more; it is due again within ten minutes, when the beats look for such tasks."
        )
    since = f"It has been away since {_instant(held.since)}"
    heard = f"Whoever has it must report by {_instant(held.until)}, or it counts as lost."
    rest = f"{heard}{_how_far(task, task.start_time)}{_failed_before(task)}"
    return Reason(Rule.AWAY, f"{since}, handed over by {held.worker}. {rest}", f"{since}. {rest}")


def _how_far(task: ScheduleTask, began: datetime | None) -> str:
    """What this run says, if it says anything."""
    told = progress_of([task.id]).get(task.id)
    if told is None or began is None or told.at < began:
        return ""
    ago = span(run("clock", {})[0][0] - told.at)
    return f" It said {ago} ago how far it is: {str(told).rstrip('.')}."


def _failed_before(task: ScheduleTask) -> str:
    """The error of a row that runs is that of the try before."""
    if not task.attempt:
        return ""
    tries = "1 try" if task.attempt == 1 else f"{task.attempt:,} tries"
    return f" {tries} failed before, {'with' if task.attempt == 1 else 'the last with'} {task.error_code}."


def _not_due(task: ScheduleTask, now: datetime) -> Reason:
    until = _instant(task.due_at)
    if task.error_code == UNKNOWN and task.due_at - now <= timedelta(seconds=conf().UNKNOWN_HANDLER_SECONDS):
        return _unknown_handler(task)
    if task.status == Status.FAIL and (held_by := _held_by(task)):
        words = f"It failed ({task.error_code}), and the retry budget of {held_by} is spent: too many of all attempts"
        return Reason(Rule.WAITS_FOR_RETRY_BUDGET, f"{words} are retries. It will be tried again at {until}.")
    if task.status == Status.FAIL:
        return Reason(Rule.WAITS_FOR_RETRY, f"It failed ({task.error_code}) and will be tried again at {until}.")
    if task.status == Status.SUCCESS:
        return Reason(Rule.NOT_DUE, f"It has run, and is due again at {until}.")
    return Reason(Rule.NOT_DUE, f"It is not due until {until}.")


def _waits_for_host(task: ScheduleTask, now: datetime) -> Reason | None:
    """Of a callback that was not made when it was due; None if somebody has given it another time since."""
    if task.task_type != HTTP_CALLBACK or task.error_code not in (HOST_LIMIT, HOST_UNWELL):
        return None
    if task.due_at - now > LONGEST_HOST_WAIT:
        return None
    until = _instant(task.due_at)
    if task.error_code == HOST_LIMIT:
        return Reason(Rule.HOST_LIMIT, f"{_message(task)}. It asks again at {until}.")
    try:
        host = host_of(receiver_of(task.payload["url"]))
    except (InvalidTask, KeyError, TypeError):
        return None
    health = health_of(task.tenant, host)
    if health is None or health.unwell_since is None:
        return Reason(Rule.HOST_UNWELL, f"It waited for host {host}, which answers again; it is due at {until}.")
    failed = f"The last calls to {host} failed, since {_instant(health.failing_since)}: {first_line(health.error)}"
    tried = f"One of its tasks tries it at {_instant(health.try_at)}, and this one is due at {until}; no retry is used."
    return Reason(Rule.HOST_UNWELL, f"{failed.rstrip('.')}. {tried}")


def _held_by(task: ScheduleTask) -> str | None:
    """Whose retry budget its last failure found spent; None if the retry waits for its back-off alone."""
    last = TaskAttempt.objects.filter(task_id=task.id).order_by("-id").only("held_by", "finished_at").first()
    return last and last.held_by


def _due(task: ScheduleTask, now: datetime) -> Reason:
    """What holds a due task, the plainest first: what a person has decided, then who is missing, then the queue."""
    return (
        _closed()
        or _held_overdue(task)
        or _tenant_suspended(task.tenant)
        or _lane_paused(task)
        or _no_dispatcher()
        or _shard_without_dispatcher(_shard_of(task))
        or _no_worker(task)
        or _over_its_limit(task)
        or _workers_busy(task)
        or _worker_deaf(task)
        or (_unknown_handler(task) if task.error_code == UNKNOWN else None)
        or Reason(
            Rule.ABOUT_TO_RUN, f"Due for {span(now - task.due_at)}, and nothing is in the way: the next look claims it."
        )
    )


def _closed() -> Reason | None:
    """The whole installation is in quarantine, or no place for these processes."""
    seen = read_view()
    if not seen.closed or seen.state == REHEARSING:
        return None
    why = f"{seen} {WAY_OUT}"
    return Reason(Rule.QUARANTINED, why, "The scheduler is stopped as a whole; its operators know why.")


def _held_overdue(task: ScheduleTask) -> Reason | None:
    seen = read_view()
    if seen.held_before is None or task.lane not in seen.held_lanes or task.due_at >= seen.held_before:
        return None
    outside = f"What was due before {_instant(seen.held_before)} is held in its lane after a downtime."
    return Reason(Rule.HELD_OVERDUE, f"{seen.sentence} {WAY_OUT}", outside)


def _rehearsed(task: ScheduleTask) -> Reason | None:
    kept = RehearsedTask.objects.filter(task=task.id).first() if lies_aside(task.due_at) else None
    if kept is None:
        return None
    aside = f"It came to a worker in a rehearsal at {_instant(kept.at)}, and was put aside"
    words = f"{aside}; it was due {_instant(kept.due_at)}."
    return Reason(Rule.REHEARSED, f"{words} `manage.py quarantine resume` puts it back.", words)


def _tenant_suspended(tenant: str) -> Reason | None:
    row = Tenant.objects.filter(name=tenant, state=Tenant.SUSPENDED).first()
    if row is None:
        return None
    until = f" until {_instant(row.until)}" if row.until else ""
    words = f"Its tenant {tenant!r} has been suspended since {_instant(row.since)}{until}"
    told = f"{words} by {row.changed_by}: {row.reason.rstrip('.')}. `manage.py tenant resume {tenant}` ends it."
    return Reason(Rule.TENANT_SUSPENDED, told, f"{words}: {row.reason.rstrip('.')}.")


def _held(task: ScheduleTask) -> Reason | None:
    """Of what was put aside since its tenant was suspended when it came due, or ran as much as it may."""
    kept = HeldTask.objects.filter(task=task.id).first() if lies_aside(task.due_at) else None
    if kept is None:
        return None
    was_due = f"It was due {_instant(kept.due_at)}."
    stopped = _tenant_suspended(task.tenant)
    if stopped is not None:
        return Reason(stopped.rule, f"{stopped.words} {was_due}", f"{stopped.outside} {was_due}")
    most = Tenant.objects.filter(name=task.tenant).values_list("max_running", flat=True).first()
    if most is not None:
        words = f"Its tenant {task.tenant!r} may run {most:,} tasks at the same time: it goes on when some are over."
        return _no_dispatcher() or Reason(Rule.TENANT_FULL, f"{words} {was_due}")
    words = f"Its tenant {task.tenant!r} was suspended, and is resumed: a beat puts it back within seconds. {was_due}"
    return _no_dispatcher() or Reason(Rule.TENANT_SUSPENDED, words)


def _lane_paused(task: ScheduleTask) -> Reason | None:
    pause = fleet_status.pauses().get(task.lane)
    if pause is None:
        return None
    since = span(timedelta(seconds=pause.seconds_ago))
    if pause.safeguard:
        held = f"Lane {task.lane!r} has been {pause.words} for {since}"
        if pause.safeguard == RECOVERY:
            words = f"{held} by the recovery from {pause.reason}, which lets it go when its turn comes."
            return Reason(Rule.LANE_HELD, words, f"{held}.")
        words = (
            f"{held} by safeguard {pause.safeguard}: {pause.reason}. `manage.py rules end {pause.safeguard}` ends it."
        )
        return Reason(Rule.LANE_HELD, words, f"{held}.")
    paused = f"Lane {task.lane!r} has been paused for {since}"
    words = f"{paused} by {pause.by}: {pause.reason.rstrip('.')}. `manage.py lane resume {task.lane}` ends it."
    return Reason(Rule.LANE_PAUSED, words, f"{paused}.")


def _no_dispatcher() -> Reason | None:
    missing = nobody_dispatches(read_nodes(), read_view().wanted_site)
    return Reason(Rule.NO_DISPATCHER, missing) if missing else None


def _shard_of(task: ScheduleTask) -> int:
    return home_of(task.task_type, conf().SHARDS) if task.limited else task.shard


def _shard_without_dispatcher(shard: int) -> Reason | None:
    known = {view.shard: view.holder for view in fleet_status.shards()}
    if known.get(shard):
        return None
    rest = "it is taken over within seconds." if shard in known else "no beat knows it. Set SHARDS for the beats too."
    return Reason(Rule.SHARD_WITHOUT_DISPATCHER, f"No beat dispatches its shard {shard}; {rest}")


def _no_worker(task: ScheduleTask) -> Reason | None:
    if _slots(task.lane):
        return None
    state = f"has been due since {_instant(task.due_at)}" if task.due_at else "is claimed"
    return Reason(Rule.NO_WORKER, f"It {state}, but no worker consumes lane {task.lane!r}.")


def _over_its_limit(task: ScheduleTask) -> Reason | None:
    if not task.limited:
        return None
    curb = Curb.objects.filter(kind__in=[Kind.TYPE, Kind.RETRIES], target=task.task_type).order_by("kind").last()
    if curb is not None:
        held = safeguards.Curb(curb.kind, curb.target, curb.rate, curb.max_running).words
        ends = f"`manage.py rules end {curb.name} {curb.subject}`".replace(" `", "`")
        words = f"Safeguard {curb.name} holds it back: {held}. {_before(task)}"
        return Reason(Rule.TYPE_HELD, f"{words} {ends} ends that.", words)
    view = next((one for one in fleet_status.limits([task.task_type], 0) if one.task_type == task.task_type), None)
    if view is None:
        return None  # it had a limit once
    if not view.declared:
        words = f"No beat knows the limit of type {task.task_type}, so nobody claims its tasks."
        return Reason(Rule.LIMIT_UNKNOWN, f"{words} Restart the beats with the code that has its handler.")
    if view.max_running is not None and view.running >= view.max_running:
        are = "is" if view.running == 1 else "are"
        running = f"{counted(view.running, 'task')} of type {task.task_type} {are} running"
        words = f"{running}, and at most {view.max_running:,} may."
        return Reason(Rule.WAITS_FOR_SLOT, f"{words} {_before(task)}")
    if view.rate is not None and _ahead(task) + 1 > view.permits:
        words = f"Type {task.task_type} may start {view.rate:g} a second, in bursts of {view.burst:g}."
        return Reason(Rule.OVER_RATE, f"{words} {_before(task)}")
    return None


def _workers_busy(task: ScheduleTask) -> Reason | None:
    waiting = TaskBatch.objects.filter(finished_at=None, started_at=None, lane=task.lane).count()
    if waiting < _slots(task.lane) * conf().BATCHES_AHEAD:
        return None
    return Reason(Rule.WAITS_FOR_SLOT, f"Every worker of lane {task.lane!r} is busy. {_behind(task)}")


def _worker_deaf(task: ScheduleTask) -> Reason | None:
    canary = canaries().get(task.lane)
    if canary is None or not canary.missing:
        return None
    silent = span(timedelta(seconds=canary.age_seconds))
    return Reason(
        Rule.WORKER_DEAF,
        f"A worker says that it consumes lane {task.lane!r}, but nothing has come back for {silent}. Restart it.",
    )


def _unknown_handler(task: ScheduleTask) -> Reason:
    return Reason(
        Rule.UNKNOWN_HANDLER, f"No worker that took it has a handler {task.task_type!r}. Deploy the code that has it."
    )


def _slots(lane: str) -> int:
    return sum(node.slots for node in read_nodes() if node.live and lane in node.lanes)


def _before(task: ScheduleTask) -> str:
    ahead = _ahead(task)
    where = "its type" if task.limited else "its shard"
    if ahead == 1:
        return f"1 task of {where} is due before it."
    return f"{ahead:,}{' or more' if ahead == COUNTED else ''} tasks of {where} are due before it."


@all_tenants()
def _behind(task: ScheduleTask) -> str:
    """Where tenants share a lane, it is no line of tasks that it is in."""
    if task.limited:
        return _before(task)
    earlier = ScheduleTask.objects.filter(limited=False, shard=task.shard, lane=task.lane, due_at__lt=task.due_at)
    whose = Counter(earlier.order_by("due_at").values_list("tenant", flat=True)[:COUNTED])
    own = whose.pop(task.tenant, 0)
    if not whose:
        return _before(task)
    shares = "another tenant's share" if len(whose) == 1 else f"{len(whose):,} other tenants' shares"
    return f"It is behind {shares}" + (f", and {counted(own, 'task')} of its own tenant." if own else ".")


@all_tenants()
def _ahead(task: ScheduleTask) -> int:
    """Tasks that are claimed before this one; each kind by its own index."""
    same = {"limited": True, "task_type": task.task_type} if task.limited else {"limited": False, "shard": task.shard}
    return ScheduleTask.objects.filter(lane=task.lane, due_at__lt=task.due_at, **same)[:COUNTED].count()


def _instant(at: datetime | None) -> str:
    return "-" if at is None else in_zone(at, "UTC")


def _message(task: ScheduleTask) -> str:
    return first_line(task.error_msg).rstrip(".")
