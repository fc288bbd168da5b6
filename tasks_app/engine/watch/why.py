"""Why is this not running? The one rule that keeps a task or a job waiting, in words to act on. Reads only."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from tasks_app.conf import conf
from tasks_app.core import safeguards
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.errors import InvalidTask
from tasks_app.core.graphs import NOT_NEEDED, When
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.hosts import HOST_LIMIT, HOST_UNWELL, host_of
from tasks_app.core.jobs import JobStatus
from tasks_app.core.lanes import URGENT_LANE
from tasks_app.core.phrases import figure, first_line
from tasks_app.core.receivers import receiver_of
from tasks_app.core.recovery import CURB as RECOVERY
from tasks_app.core.rules import Reason, Rule
from tasks_app.core.safeguards import HOST, Kind
from tasks_app.core.said import Said, joined, said, said_of
from tasks_app.core.schedule import in_zone
from tasks_app.core.scopes import EVERYTHING, HELD_BACK
from tasks_app.core.sharding import home_of
from tasks_app.core.states import UNDER_WAY, Status, lies_aside
from tasks_app.engine.canary import canaries
from tasks_app.lifecycle.anywhere import tasks_by_id
from tasks_app.lifecycle.jobs.parents import names_of
from tasks_app.lifecycle.jobs.view import MOST_NAMED, known_zone, state_of
from tasks_app.lifecycle.progress import progress_of
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
from tasks_app.models.schedule_task import TaskFields
from tasks_app.scope import all_tenants
from tasks_app.sql import run

from . import fleet_status
from .host_status import health_of
from .installation_status import REHEARSING, WAY_OUT, read_view
from .status import read_nodes
from .verdict.fleet import nobody_dispatches

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
    return _rehearsed(task) or _held(task) or _held_back(task) or _waits_for_host(task, now) or _not_due(task, now)


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
        which = said("Its instance {task} of {time}:", task=held.id, time=in_zone(held.fire_time, known_zone(job)))
        return Reason(reason.rule, joined(which, reason.words), joined(which, reason.outside or reason.words))
    if state.rule != Rule.NOT_DUE:
        return state
    if REGISTRY.get(job.task_type) is None:
        words = said("There is no handler {type!r} here. Deploy the code that has it.", type=job.task_type)
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
        return _parent_failed(failed, names)
    lost = sorted(one for one, how in noted.items() if one not in found and how not in (Status.SUCCESS, NOT_NEEDED))
    if lost and (job is None or job.when == When.ALL_SUCCESS):
        how = said("gave up") if noted[lost[0]] == Status.DEAD else said("was cancelled or taken back")
        words = said("It waits for task {task}, which {how} and is no longer kept.", task=lost[0], how=how)
        rest = said("Run the graph again from there, or cancel this one.")
        return Reason(Rule.PARENT_FAILED, joined(words, rest))
    waited = sorted((one for one in parents if one.live), key=lambda one: one.id)
    if not waited:
        return Reason(Rule.BLOCKED, said("All that it waited for is over; a beat looks at it within seconds."))
    few = ", ".join(f"{names.get(one.job, 'a job')!r} (task {one.id}, {one.status})" for one in waited[:MOST_NAMED])
    if len(waited) > MOST_NAMED:
        more = len(waited) - MOST_NAMED
        return Reason(Rule.BLOCKED, said("It waits for {tasks} and {more:,} more.", tasks=few, more=more))
    return Reason(Rule.BLOCKED, said("It waits for {tasks}.", tasks=few))


def _parent_failed(failed: Sequence[TaskFields], names: Mapping[int, str]) -> Reason:
    first = min(failed, key=lambda one: one.id)
    which = {"job": names.get(first.job, "a job"), "task": first.id, "error": first.error_code}
    which["how"] = said("gave up") if first.status == Status.DEAD else said("was cancelled")
    if len(failed) > 1:
        words = said_of(
            "It waits for {job!r}, which {how} (task {task}: {error}), and for {others:,} other that failed.",
            "It waits for {job!r}, which {how} (task {task}: {error}), and for {others:,} others that failed.",
            len(failed) - 1,
            others=len(failed) - 1,
            **which,
        )
    else:
        words = said("It waits for {job!r}, which {how} (task {task}: {error}).", **which)
    if first.status == Status.DEAD:
        return Reason(Rule.PARENT_FAILED, joined(words, said("Retry task {task}, or cancel this one.", task=first.id)))
    return Reason(Rule.PARENT_FAILED, joined(words, said("Run the graph again from there, or cancel this one.")))


def _paused(job: JobDefinition, state: Reason) -> Reason:
    words = state.words if state.words.endswith((".", "!", "?")) else said("{words}.", words=state.words)
    if job.paused_until is None or job.paused_until > run("clock", {})[0][0]:
        return Reason(state.rule, words)
    passed = said("That has passed: a beat resumes it within seconds.")
    return _no_dispatcher() or Reason(state.rule, joined(words, passed))


def _waits_for_turn(task: ScheduleTask) -> Reason | None:
    rows = run("waits_for", {"task": task.id, "most": COUNTED})
    if not rows:
        return None
    [(at, later, holder, fire_time, before)] = rows
    if later:
        return Reason(Rule.NOT_DUE, said("It is not due until {time}.", time=_instant(at)))
    if holder is None:
        words = said("It is its turn: a beat lets it go within a second.")
        return _no_dispatcher() or Reason(Rule.WAITS_FOR_TURN, words)
    older = said(
        "Instance {task} of its job, fired for {time}, is under way, and the job lets no two overlap.",
        task=holder,
        time=_instant(fire_time),
    )
    line = said_of(
        "{count:,} other instance waits before it.", "{count:,} other instances wait before it.", before, count=before
    )
    return Reason(Rule.WAITS_FOR_TURN, joined(older, line if before else ""))


def _finished(task: ScheduleTask) -> Reason:
    if task.status == Status.SUCCESS:
        return Reason(Rule.DONE, said("It ran on {time}.", time=_instant(task.start_time)))
    if not task.current:
        return Reason(Rule.SUPERSEDED, said("It is over: a newer task has taken its place."))
    error = {"code": task.error_code, "error": _message(task)}
    if task.status == Status.DEAD and task.retry_count > task.attempt > 0:  # it was replayed
        words = said_of(
            "It gave up after {count} failure since its last replay, {total} in all: {code}: {error}. Retry it.",
            "It gave up after {count} failures since its last replay, {total} in all: {code}: {error}. Retry it.",
            task.attempt,
            count=task.attempt,
            total=task.retry_count,
            **error,
        )
        return Reason(Rule.DEAD, words)
    if task.status == Status.DEAD:
        words = said_of(
            "It gave up after {count} failure: {code}: {error}. Retry it.",
            "It gave up after {count} failures: {code}: {error}. Retry it.",
            task.attempt,
            count=task.attempt,
            **error,
        )
        return Reason(Rule.DEAD, words)
    why = _message(task) or task.error_code
    if task.cancelled_by:
        return Reason(Rule.CANCELLED, said("It was cancelled by {who}: {why}.", who=task.cancelled_by, why=why))
    return Reason(Rule.CANCELLED, said("It was cancelled: {why}.", why=why))


def _running(task: ScheduleTask) -> Reason:
    batch = TaskBatch.objects.filter(batch_no=task.batch_no).first()
    if batch is None or batch.finished_at is not None:
        words = said("Its batch is gone; it is due again within ten minutes, when the beats look for such tasks.")
        return Reason(Rule.LOST, words)
    if batch.started_at is not None:
        return _started(task, batch)
    words = said(
        "It has been queued for {ago}: it was claimed at {time}, and waits for a worker.",
        ago=max(run("clock", {})[0][0] - batch.claimed_at, timedelta(0)),
        time=_instant(batch.claimed_at),
    )
    return (
        _closed()
        or why_lane(task.lane)
        or _no_worker(task)
        or Reason(Rule.WAITS_FOR_SLOT, joined(words, _failed_before(task)))
    )


def _started(task: ScheduleTask, batch: TaskBatch) -> Reason:
    since = said("since {time}", time=_instant(batch.started_at))
    there = said("since {time} on {worker}", time=_instant(batch.started_at), worker=batch.worker)
    if batch.lease_until < run("clock", {})[0][0]:
        inside, outside = (
            said(
                "It ran {when}, but that worker has gone silent and its lease has run out: it is due again within "
                "seconds, when a beat looks.",
                when=when,
            )
            for when in (there, since)
        )
        return Reason(Rule.WORKER_SILENT, inside, outside)
    before = joined(_how_far(task, batch.started_at), _failed_before(task))
    if len(batch.ids) == 1:
        inside, outside = (said("It has been running {when}.", when=when) for when in (there, since))
    else:
        inside, outside = (
            said(
                "Its batch of {count:,} has been running {when}: it runs now, or its turn is coming.",
                count=len(batch.ids),
                when=when,
            )
            for when in (there, since)
        )
    return Reason(Rule.RUNNING, joined(inside, before), joined(outside, before))


def _away(task: ScheduleTask) -> Reason:
    held = AwayTask.objects.filter(task=task.id).first()
    if held is None:
        words = said("Nobody has it any more; it is due again within ten minutes, when the beats look for such tasks.")
        return Reason(Rule.LOST, words)
    since = _instant(held.since)
    heard = said("Whoever has it must report by {time}, or it counts as lost.", time=_instant(held.until))
    rest = joined(heard, _how_far(task, task.start_time), _failed_before(task))
    inside = said("It has been away since {time}, handed over by {worker}.", time=since, worker=held.worker)
    return Reason(Rule.AWAY, joined(inside, rest), joined(said("It has been away since {time}.", time=since), rest))


def _how_far(task: ScheduleTask, began: datetime | None) -> str:
    """What this run says, if it says anything."""
    told = progress_of([task.id]).get(task.id)
    if told is None or began is None or told.at < began:
        return ""
    ago = run("clock", {})[0][0] - told.at
    return said("It said {ago} ago how far it is: {told}.", ago=ago, told=str(told).rstrip("."))


def _failed_before(task: ScheduleTask) -> str:
    """The error of a row that runs is that of the try before."""
    if not task.attempt:
        return ""
    return said_of(
        "{count:,} try failed before, with {code}.",
        "{count:,} tries failed before, the last with {code}.",
        task.attempt,
        count=task.attempt,
        code=task.error_code,
    )


def _not_due(task: ScheduleTask, now: datetime) -> Reason:
    until = _instant(task.due_at)
    if task.error_code == UNKNOWN and task.due_at - now <= timedelta(seconds=conf().UNKNOWN_HANDLER_SECONDS):
        return _unknown_handler(task)
    if task.status == Status.FAIL and (held_by := _held_by(task)):
        words = said(
            "It failed ({code}), and the retry budget of {whose} is spent: too many of all attempts are retries. It "
            "will be tried again at {time}.",
            code=task.error_code,
            whose=held_by,
            time=until,
        )
        return Reason(Rule.WAITS_FOR_RETRY_BUDGET, words)
    if task.status == Status.FAIL:
        words = said("It failed ({code}) and will be tried again at {time}.", code=task.error_code, time=until)
        return Reason(Rule.WAITS_FOR_RETRY, words)
    if task.status == Status.SUCCESS:
        return Reason(Rule.NOT_DUE, said("It has run, and is due again at {time}.", time=until))
    return Reason(Rule.NOT_DUE, said("It is not due until {time}.", time=until))


def _held_back(task: ScheduleTask) -> Reason | None:
    """For a task that a worker sent back, because a safeguard holds back its tenant's tasks of its type."""
    if task.error_code != HELD_BACK:
        return None
    again = said("It asks again at {time}.", time=_instant(task.due_at))
    held = _held_in_its_tenant(task)
    if held is not None:
        return _curbed(held, again)
    words = said("A safeguard held it back, and is off now.")
    return Reason(Rule.TYPE_HELD, joined(words, again))


def _held_in_its_tenant(task: ScheduleTask) -> Curb | None:
    """What a safeguard holds of this tenant alone: beats claim the task, and a worker sends it back."""
    targets = [task.task_type] if task.lane == URGENT_LANE else [task.task_type, EVERYTHING]
    host = _host_of(task)
    return _strictest(task, tenants=[task.tenant], targets=[*targets, f"{HOST}{host}"] if host else targets)


def _strictest(task: ScheduleTask, *, tenants: Sequence[str], targets: Sequence[str]) -> Curb | None:
    """A safeguard that slows down retries leaves first tries alone."""
    kinds = [Kind.TYPE, Kind.RETRIES] if task.attempt else [Kind.TYPE]
    found = Curb.objects.filter(kind__in=kinds, of_tenant__in=tenants, target__in=targets)
    strictest: Curb | None = found.order_by("kind", "id").last()
    return strictest


def _curbed(curb: Curb, *rest: str) -> Reason:
    """Which safeguard holds a task; how to end it is for operators."""
    held = safeguards.Curb(curb.kind, curb.target, curb.rate, curb.max_running, curb.of_tenant).words
    words = joined(said("Safeguard {name} holds it back: {held}.", name=curb.name, held=held), *rest)
    ends = said("`{command}` ends that.", command=f"manage.py rules end {curb.name} {curb.subject}".rstrip())
    return Reason(Rule.TYPE_HELD, joined(words, ends), words)


def _waits_for_host(task: ScheduleTask, now: datetime) -> Reason | None:
    """Of a callback that was not made when it was due; None if somebody has given it another time since."""
    if task.task_type != HTTP_CALLBACK or task.error_code not in (HOST_LIMIT, HOST_UNWELL):
        return None
    if task.due_at - now > LONGEST_HOST_WAIT:
        return None
    until = _instant(task.due_at)
    if task.error_code == HOST_LIMIT:
        return Reason(Rule.HOST_LIMIT, said("{what}. It asks again at {time}.", what=_message(task), time=until))
    host = _host_of(task)
    if host is None:
        return None
    held = Curb.objects.filter(kind=Kind.HOST, target=host, of_tenant__in=("", task.tenant)).first()
    if held is not None:
        again = said("It asks again at {time}.", time=until)
        return _curbed(held, again)._replace(rule=Rule.HOST_UNWELL)
    health = health_of(task.tenant, host)
    if health is None or health.unwell_since is None:
        words = said("It waited for host {host}, which answers again; it is due at {time}.", host=host, time=until)
        return Reason(Rule.HOST_UNWELL, words)
    failed = said(
        "The last calls to {host} failed, since {time}: {error}.",
        host=host,
        time=_instant(health.failing_since),
        error=first_line(health.error).rstrip("."),
    )
    tried = said(
        "One of its tasks tries it at {trial}, and this one is due at {time}; no retry is used.",
        trial=_instant(health.try_at),
        time=until,
    )
    return Reason(Rule.HOST_UNWELL, joined(failed, tried))


def _host_of(task: ScheduleTask) -> str | None:
    """The endpoint host that it calls; None: it calls none, or its payload does not name one."""
    if task.task_type != HTTP_CALLBACK:
        return None
    try:
        return host_of(receiver_of(task.payload["url"]))
    except (InvalidTask, KeyError, TypeError):
        return None


def _held_by(task: ScheduleTask) -> str | None:
    """Whose retry budget its last failure found spent; None if the retry waits for its back-off alone."""
    last = TaskAttempt.objects.filter(task_id=task.id).order_by("-id").only("held_by", "finished_at").first()
    held_by: str | None = last and last.held_by
    return held_by


def _due(task: ScheduleTask, now: datetime) -> Reason:
    """What holds a due task, the plainest first: what a person has decided, then who is missing, then the queue."""
    return (
        _closed()
        or _held_overdue(task)
        or _tenant_suspended(task.tenant)
        or why_lane(task.lane)
        or _no_dispatcher()
        or _shard_without_dispatcher(_shard_of(task))
        or _no_worker(task)
        or _held_with_its_type(task)
        or _over_its_limit(task)
        or _workers_busy(task)
        or _worker_deaf(task)
        or (_unknown_handler(task) if task.error_code == UNKNOWN else None)
        or Reason(
            Rule.ABOUT_TO_RUN,
            said("Due for {time}, and nothing is in the way: the next look claims it.", time=now - task.due_at),
        )
    )


def _closed() -> Reason | None:
    """The whole installation is in quarantine, or no place for these processes."""
    seen = read_view()
    if not seen.closed or seen.state == REHEARSING:
        return None
    outside = said("The scheduler is stopped as a whole; its operators know why.")
    return Reason(Rule.QUARANTINED, joined(seen.told, WAY_OUT), outside)


def _held_overdue(task: ScheduleTask) -> Reason | None:
    seen = read_view()
    if seen.held_before is None or task.lane not in seen.held_lanes or task.due_at >= seen.held_before:
        return None
    outside = said("What was due before {time} is held in its lane after a downtime.", time=_instant(seen.held_before))
    return Reason(Rule.HELD_OVERDUE, joined(seen.sentence, WAY_OUT), outside)


def _rehearsed(task: ScheduleTask) -> Reason | None:
    kept = RehearsedTask.objects.filter(task=task.id).first() if lies_aside(task.due_at) else None
    if kept is None:
        return None
    words = said(
        "It came to a worker in a rehearsal at {time}, and was put aside; it was due {due}.",
        time=_instant(kept.at),
        due=_instant(kept.due_at),
    )
    return Reason(Rule.REHEARSED, joined(words, said("`manage.py quarantine resume` puts it back.")), words)


def _tenant_suspended(tenant: str) -> Reason | None:
    row = Tenant.objects.filter(name=tenant, state=Tenant.SUSPENDED).first()
    if row is None:
        return None
    told = {"tenant": tenant, "since": _instant(row.since), "why": row.reason.rstrip(".")}
    if row.until:
        told["until"] = _instant(row.until)
        inside = said(
            "Its tenant {tenant!r} has been suspended since {since} until {until} by {who}: {why}.",
            who=row.changed_by,
            **told,
        )
        outside = said("Its tenant {tenant!r} has been suspended since {since} until {until}: {why}.", **told)
    else:
        inside = said(
            "Its tenant {tenant!r} has been suspended since {since} by {who}: {why}.", who=row.changed_by, **told
        )
        outside = said("Its tenant {tenant!r} has been suspended since {since}: {why}.", **told)
    ends = said("`{command}` ends it.", command=f"manage.py tenant resume {tenant}")
    return Reason(Rule.TENANT_SUSPENDED, joined(inside, ends), outside)


def _held(task: ScheduleTask) -> Reason | None:
    """Of what was put aside since its tenant was suspended when it came due, or ran as much as it may."""
    kept = HeldTask.objects.filter(task=task.id).first() if lies_aside(task.due_at) else None
    if kept is None:
        return None
    was_due = said("It was due {time}.", time=_instant(kept.due_at))
    stopped = _tenant_suspended(task.tenant)
    if stopped is not None:
        return Reason(stopped.rule, joined(stopped.words, was_due), joined(stopped.outside, was_due))
    most = Tenant.objects.filter(name=task.tenant).values_list("max_running", flat=True).first()
    if most is not None:
        words = said(
            "Its tenant {tenant!r} may run {most:,} tasks at the same time: it goes on when some are over.",
            tenant=task.tenant,
            most=most,
        )
        return _no_dispatcher() or Reason(Rule.TENANT_FULL, joined(words, was_due))
    words = said(
        "Its tenant {tenant!r} was suspended, and is resumed: a beat puts it back within seconds.", tenant=task.tenant
    )
    return _no_dispatcher() or Reason(Rule.TENANT_SUSPENDED, joined(words, was_due))


def why_lane(lane: str) -> Reason | None:
    """Why tasks of the lane wait: a pause, or a safeguard that slows it. None: nothing holds it."""
    pause = fleet_status.pauses().get(lane)
    if pause is None:
        return None
    told = {"lane": lane, "time": timedelta(seconds=pause.seconds_ago)}
    if pause.safeguard:
        told["how"] = pause.words
        if pause.safeguard == RECOVERY:
            words = said(
                "Lane {lane!r} has been {how} for {time} by the recovery from {why}, which lets it go when its turn "
                "comes.",
                why=pause.reason,
                **told,
            )
        else:
            held = said(
                "Lane {lane!r} has been {how} for {time} by safeguard {safeguard}: {why}.",
                safeguard=pause.safeguard,
                why=pause.reason,
                **told,
            )
            ends = said("`{command}` ends it.", command=f"manage.py rules end {pause.safeguard}")
            return Reason(Rule.LANE_HELD, joined(held, ends), held)
        return Reason(Rule.LANE_HELD, words, said("Lane {lane!r} has been {how} for {time}.", **told))
    paused = said(
        "Lane {lane!r} has been paused for {time} by {who}: {why}.",
        who=pause.by,
        why=pause.reason.rstrip("."),
        **told,
    )
    ends = said("`{command}` ends it.", command=f"manage.py lane resume {lane}")
    return Reason(Rule.LANE_PAUSED, joined(paused, ends), said("Lane {lane!r} has been paused for {time}.", **told))


def _no_dispatcher() -> Reason | None:
    missing = nobody_dispatches(read_nodes(), read_view().wanted_site)
    return Reason(Rule.NO_DISPATCHER, missing) if missing else None


def _shard_of(task: ScheduleTask) -> int:
    return home_of(task.task_type, conf().SHARDS) if task.limited else task.shard


def _shard_without_dispatcher(shard: int) -> Reason | None:
    known = {view.shard: view.holder for view in fleet_status.shards()}
    if known.get(shard):
        return None
    if shard in known:
        words = said("No beat dispatches its shard {shard}; it is taken over within seconds.", shard=shard)
    else:
        words = said(
            "No beat dispatches its shard {shard}; no beat knows it. Set SHARDS for the beats too.", shard=shard
        )
    return Reason(Rule.SHARD_WITHOUT_DISPATCHER, words)


def _no_worker(task: ScheduleTask) -> Reason | None:
    if _slots(task.lane):
        return None
    if task.due_at:
        words = said(
            "It has been due since {time}, but no worker consumes lane {lane!r}.",
            time=_instant(task.due_at),
            lane=task.lane,
        )
    else:
        words = said("It is queued, but no worker consumes lane {lane!r}.", lane=task.lane)
    return Reason(Rule.NO_WORKER, words)


def _held_with_its_type(task: ScheduleTask) -> Reason | None:
    curb = _strictest(task, tenants=[""], targets=[task.task_type])
    if curb is not None:
        return _curbed(curb, _before(task))
    own = _held_in_its_tenant(task)
    return None if own is None else _curbed(own)


def _over_its_limit(task: ScheduleTask) -> Reason | None:
    if not task.limited:
        return None
    view = next((one for one in fleet_status.limits([task.task_type], 0) if one.task_type == task.task_type), None)
    if view is None:
        return None  # it had a limit once
    if not view.declared:
        words = said(
            "No beat knows the limit of type {type}, so nobody claims its tasks. Restart the beats with the code that "
            "has its handler.",
            type=task.task_type,
        )
        return Reason(Rule.LIMIT_UNKNOWN, words)
    if view.max_running is not None and view.running >= view.max_running:
        words = said_of(
            "{count:,} task of type {type} is running, and at most {most:,} may.",
            "{count:,} tasks of type {type} are running, and at most {most:,} may.",
            view.running,
            count=view.running,
            type=task.task_type,
            most=view.max_running,
        )
        return Reason(Rule.WAITS_FOR_SLOT, joined(words, _before(task)))
    rate, burst, permits = view.rate, view.burst, view.permits
    if rate is not None and burst is not None and permits is not None and _ahead(task) + 1 > permits:
        words = said(
            "Type {type} may start {rate} a second, in bursts of {burst}.",
            type=task.task_type,
            rate=figure(rate),
            burst=figure(burst),
        )
        return Reason(Rule.OVER_RATE, joined(words, _before(task)))
    return None


def _workers_busy(task: ScheduleTask) -> Reason | None:
    waiting = TaskBatch.objects.filter(finished_at=None, started_at=None, lane=task.lane).count()
    if waiting < _slots(task.lane) * conf().BATCHES_AHEAD:
        return None
    words = said("Every worker of lane {lane!r} is busy.", lane=task.lane)
    return Reason(Rule.WAITS_FOR_SLOT, joined(words, _behind(task)))


def _worker_deaf(task: ScheduleTask) -> Reason | None:
    canary = canaries().get(task.lane)
    if canary is None or not canary.missing:
        return None
    words = said(
        "A worker says that it consumes lane {lane!r}, but nothing has come back for {time}. Restart it.",
        lane=task.lane,
        time=timedelta(seconds=canary.age_seconds),
    )
    return Reason(Rule.WORKER_DEAF, words)


def _unknown_handler(task: ScheduleTask) -> Reason:
    words = said("No worker that took it has a handler {type!r}. Deploy the code that has it.", type=task.task_type)
    return Reason(Rule.UNKNOWN_HANDLER, words)


def _slots(lane: str) -> int:
    return sum(node.slots for node in read_nodes() if node.live and lane in node.lanes)


def _before(task: ScheduleTask) -> Said:
    ahead = _ahead(task)
    where = said("its type") if task.limited else said("its shard")
    if ahead == COUNTED:
        return said("{count:,} or more tasks of {where} are due before it.", count=ahead, where=where)
    return said_of(
        "{count:,} task of {where} is due before it.",
        "{count:,} tasks of {where} are due before it.",
        ahead,
        count=ahead,
        where=where,
    )


@all_tenants()
def _behind(task: ScheduleTask) -> Said:
    """Where tenants share a lane, it is no line of tasks that it is in."""
    if task.limited:
        return _before(task)
    whose = Counter(_before_it(task))
    own = whose.pop(task.tenant, 0)
    if not whose:
        return _before(task)
    shares = said_of("another tenant's share", "{count:,} other tenants' shares", len(whose), count=len(whose))
    if not own:
        return said("It is behind {shares}.", shares=shares)
    return said_of(
        "It is behind {shares}, and {count:,} task of its own tenant.",
        "It is behind {shares}, and {count:,} tasks of its own tenant.",
        own,
        shares=shares,
        count=own,
    )


@all_tenants()
def _ahead(task: ScheduleTask) -> int:
    """Tasks that are claimed before this one; each kind by its own index."""
    if not task.limited:
        return len(_before_it(task))
    same = {"limited": True, "task_type": task.task_type}
    ahead = ScheduleTask.objects.filter(lane=task.lane, wait_at__lt=task.due_at, **same)
    count: int = ahead[:COUNTED].count()
    return count


def _before_it(task: ScheduleTask) -> list[str]:
    """The tenants of tasks without a limit that are due before this one, those that are due first."""
    asked = {"shards": [task.shard], "lane": task.lane, "before": task.due_at, "most": COUNTED}
    return [tenant for (tenant,) in run("due_before", asked)]


def _instant(at: datetime | None) -> str:
    return "-" if at is None else in_zone(at, "UTC")


def _message(task: ScheduleTask) -> str:
    return first_line(task.error_msg).rstrip(".")
