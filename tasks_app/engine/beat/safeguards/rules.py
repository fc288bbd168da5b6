"""The rules: each looks at the pulse, and says what it found of which subject. What follows is decided elsewhere."""

import logging
from collections.abc import Callable, Iterator, Mapping, Set
from datetime import UTC, datetime
from typing import Any

from tasks_app.conf import conf
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.errors import InvalidTask
from tasks_app.core.hosts import host_of
from tasks_app.core.phrases import milliseconds, percent
from tasks_app.core.receivers import receiver_of
from tasks_app.core.safeguards import HOST, ONE_CAUSE, TRIALS, Name, Policy, retry_rates, slowed_at, stages_of
from tasks_app.core.scopes import EVERYTHING, Scope, scope_of
from tasks_app.database import atomic
from tasks_app.lifecycle.safeguards.applying import Finding
from tasks_app.models import Safeguard
from tasks_app.sql import array, run

from .pulse import Pulse, ScopePulse, TypePulse

log = logging.getLogger(__name__)

WINDOW_SECONDS = 600.0
LEAST_SECONDS = 60.0  # of failures, before their rate is told from them
USUAL_SECONDS = 3_600.0  # after which what a handler takes is what it usually takes
QUIET_SECONDS = 600.0  # a breaker that nobody wants to go through for so long is closed
RELAPSE_SAMPLE = 5  # tries of a type whose breaker is half open: if most of them fail, it opens again
SLOW_CALM = 2 / 3  # of the limit
FROZEN = ("low_rate", "before_ms")  # measured when it began: what is held back would pull them along
SEVERAL = 2  # failing tenants, and no tenant that succeeds, mean that the type is the cause
GROWN = 1.25  # times as many failures a second as before are more of them

Rows = Mapping[str, Safeguard]  # by subject: those of the safeguard that there are


def delay(pulse: Pulse, policy: Policy, rows: Rows) -> Iterator[Finding]:
    """The larger of how late tasks started, and for how long the oldest has been due."""
    started, p95 = sum(pulse.lateness), pulse.p95_ms
    late = max(p95 or 0.0 if started >= policy.sample else 0.0, pulse.oldest_ms)
    figures: dict[str, Any] = {"p95_ms": round(p95 or 0.0, 1), "oldest_ms": round(pulse.oldest_ms), "started": started}
    figures |= {"low_rate": round(pulse.lanes["low"].rate, 3), "limit_ms": policy.limit}
    over = True if late > policy.limit else False if late <= policy.limit / 2 else None
    words = f"95 % of the tasks start within {milliseconds(p95 or 0.0)}, and the oldest has been due for"
    sentence = f"{words} {milliseconds(pulse.oldest_ms)}: more than {milliseconds(policy.limit)}."
    yield _found(Name.DELAY, "", over, figures, sentence, rows)


def failures(pulse: Pulse, policy: Policy, rows: Rows, broken: Rows) -> Iterator[Finding]:
    """Failing scopes first. Then the rest as a whole, without scopes that are slowed or open already: of the one tenant
    that causes it, or of all."""
    apart = {scope for scope in map(scope_of, [one for one, row in broken.items() if row.stage]) if scope}
    rest: dict[Scope, ScopePulse] = {}
    for scope, one in pulse.scopes.items():
        if scope in apart:
            continue
        row = rows.get(scope.subject)
        over = _failing(one.ok, one.failed, policy)
        if over or (row is not None and row.stage):
            apart.add(scope)
            sentence = (
                f"Of {one.tries:,} tries {_of(scope)} in ten minutes, {percent(one.failed / max(one.tries, 1))} failed."
            )
            figures = _of_failures({scope: one}, one.ok, policy)
            yield _found(Name.FAILURES, scope.subject, over, figures, sentence, rows)
        else:
            rest[scope] = one
    yield from _of_the_rest(pulse, policy, rows, apart, rest)


def _of_the_rest(
    pulse: Pulse, policy: Policy, rows: Rows, apart: Set[Scope], rest: Mapping[Scope, ScopePulse]
) -> Iterator[Finding]:
    alone = {one: pulse.types[one] for one in pulse.types if one != HTTP_CALLBACK}
    gone = [pulse.scopes[scope] for scope in apart if scope in pulse.scopes and not scope.target.startswith(HOST)]
    ok = max(0, sum(one.ok for one in alone.values()) - sum(one.ok for one in gone))
    inner = {scope: one for scope, one in rest.items() if not scope.target.startswith(HOST)}
    failed = sum(one.failed for one in inner.values())
    tenant = _main_cause(_by_tenant({scope: one.failed for scope, one in inner.items()}))
    subject = Scope(tenant, EVERYTHING).subject if tenant else ""
    tries = max(ok + failed, 1)
    whose = f"of tenant {tenant}, nearly all" if tenant else "of all other types"
    sentence = f"Of {tries:,} other tries in ten minutes, {percent(failed / tries)} failed: {whose}."
    over = _failing(ok, failed, policy)
    figures = _of_failures(
        {scope: one for scope, one in inner.items() if not tenant or scope.tenant == tenant}, ok, policy
    )
    yield _found(Name.FAILURES, subject, over, figures, sentence, rows)


def _by_tenant(counts: Mapping[Scope, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for scope, count in counts.items():
        found[scope.tenant] = found.get(scope.tenant, 0) + count
    return found


def _main_cause(counts: Mapping[str, int]) -> str:
    """The tenant that causes nearly all of it; empty if several do."""
    worst = max(counts, key=lambda one: counts[one], default="")
    return worst if worst and counts[worst] >= ONE_CAUSE * sum(counts.values()) else ""


def _of(scope: Scope) -> str:
    target = scope.target.removeprefix(HOST)
    return f"of {target} of tenant {scope.tenant}"


def _failing(ok: int, failed: int, policy: Policy) -> bool | None:
    tries = ok + failed
    if tries < policy.sample:
        return False
    success = ok / tries
    return True if success < policy.limit else False if success >= 1 - (1 - policy.limit) / 2 else None


def _of_failures(scopes: Mapping[Scope, ScopePulse], ok: int, policy: Policy) -> dict[str, object]:
    failed = sum(one.failed for one in scopes.values())
    rates: dict[str, float] = {}
    for scope, one in sorted(scopes.items(), key=lambda pair: -pair[1].failed)[:200]:
        # About as many retries as failures: each of these is tried again. By the time since they began.
        if one.failed:
            rates[scope.target] = round(rates.get(scope.target, 0.0) + one.failed / _seconds(one), 4)
    return {"tries": ok + failed, "failed": failed, "limit": policy.limit, "rates": rates}


def _seconds(one: ScopePulse) -> float:
    return min(max(one.failing_seconds, LEAST_SECONDS), WINDOW_SECONDS)


def retries(pulse: Pulse, policy: Policy, rows: Rows) -> Iterator[Finding]:
    """Guessed from a sample, now and then; in between all stays as it was."""
    if pulse.sampled is None:
        yield from (Finding(Name.RETRIES, subject, _still(row), {}) for subject, row in rows.items())
        return
    total = sum(pulse.sampled.retries.values())
    tenant = _main_cause(_by_tenant(pulse.sampled.retries))
    subject = Scope(tenant, EVERYTHING).subject if tenant else ""
    waiting: dict[str, int] = {}
    for scope, count in pulse.sampled.retries.items():
        if count and (not tenant or scope.tenant == tenant):
            waiting[scope.target] = waiting.get(scope.target, 0) + count
    means = {one: _mean_us(pulse.types[one]) / 1e6 for one in waiting if one in pulse.types}
    over = True if total > policy.limit else False if total <= policy.limit / 2 else None
    rates = {one: round(rate, 4) for one, rate in retry_rates(waiting, means, pulse.slots).items()}
    figures = {"waiting": total, "limit": policy.limit, "rates": rates}
    row = rows.get(subject)
    if row is not None and row.stage and row.figures.get("rates", {}).keys() == rates.keys():
        figures["rates"] = row.figures["rates"]
    whose = f" Nearly all of them are of tenant {tenant}." if tenant else ""
    sentence = f"About {total:,} retries are waiting: more than {policy.limit:,.0f}.{whose}"
    yield Finding(Name.RETRIES, subject, over, figures, sentence)


def _still(row: Safeguard) -> bool | None:
    """What the last sample said."""
    return True if row.over_since else False if row.calm_since else None


def dead_letters(pulse: Pulse, policy: Policy, rows: Rows) -> Iterator[Finding]:
    """If one type or one host is the cause, that one alone."""
    total = sum(pulse.dead.values())
    figures = {"letters": total, "limit": policy.limit}
    over = True if total > policy.limit else False if total <= policy.limit / 2 else None
    sentence = f"{total:,} tasks gave up within a minute: more than {policy.limit:,.0f}."
    if over is not True:
        yield from (Finding(Name.DEAD_LETTERS, subject, over, figures) for subject in rows)
        return
    cause = _cause(pulse)
    scope = scope_of(cause)
    of = (scope.target.removeprefix(HOST) if scope else cause.removeprefix(HOST)).replace(EVERYTHING, "several types")
    whose = f" of tenant {scope.tenant}" if scope else ""
    sentence += f" Nearly all of them are of {of}{whose}." if cause else ""
    yield Finding(Name.DEAD_LETTERS, cause, True, figures, sentence)
    # Those that are held already don't die: that others do says nothing about them.
    yield from (Finding(Name.DEAD_LETTERS, subject, None, {}) for subject in rows if subject != cause)


def _cause(pulse: Pulse) -> str:
    """The narrowest subject that nearly all of them come from; empty: there is none."""
    types: dict[str, int] = {}
    for scope, count in pulse.dead.items():
        types[scope.target] = types.get(scope.target, 0) + count
    tenant, task_type = _main_cause(_by_tenant(pulse.dead)), _main_cause(types)
    target = task_type
    if task_type == HTTP_CALLBACK:
        letters = [ids for scope, ids in pulse.dead_tasks.items() if scope.target == HTTP_CALLBACK]
        target = _host_of([one for ids in letters for one in ids]) or task_type
    if tenant:
        return Scope(tenant, target or EVERYTHING).subject
    return target


def _host_of(tasks: list[int]) -> str:
    """The host that nearly all of these call; empty: they call several."""
    hosts: dict[str, int] = {}
    with atomic():  # a savepoint: if it fails, the other rules still run in this transaction
        urls = run("callback_urls", {"ids": array(tasks)}) if tasks else []
    for (url,) in urls:
        try:
            name = host_of(receiver_of(url or ""))
        except InvalidTask:
            continue
        hosts[name] = hosts.get(name, 0) + 1
    cause = _main_cause(hosts)
    return HOST + cause if cause else ""


def breaker(pulse: Pulse, policy: Policy, rows: Rows) -> Iterator[Finding]:
    """The breaker of one tenant's tasks of a type. While it is open, its trials decide."""
    subjects = {scope.subject: scope for scope in pulse.scopes if not scope.target.startswith(HOST)}
    subjects |= {subject: scope for subject in rows if (scope := scope_of(subject)) is not None}
    failing: dict[str, set[str]] = {}  # tenants by type
    for subject, scope in subjects.items():
        one, row = pulse.scopes.get(scope, ScopePulse()), rows.get(subject)
        if row is not None and row.stage:
            if row.stage == stages_of(Name.BREAKER):
                failing.setdefault(scope.target, set()).add(scope.tenant)
            yield _tried(scope, one, row, policy, pulse.now)
            continue
        tries = one.lately_ok + one.lately_failed
        over = tries >= policy.sample and one.lately_failed > policy.limit * tries
        if row is not None and row.ended_at is not None:
            # The failures that opened it are still among those of five minutes: what has run since then counts.
            over = over and _since_end(one, row, policy)
        if over or row is not None:
            figures = {"tries": tries, "failed": one.lately_failed, "limit": policy.limit}
            figures |= {"in_a_row": 0, "ok_here": 0, "failed_here": 0, "tried_at": pulse.now}
            if row is not None and not over:
                figures |= {name: _sum(row, name, more) for name, more in _new_of(one).items()}
            sentence = f"{one.lately_failed:,} of {tries:,} tries {_of(scope)} in five minutes failed."
            yield Finding(Name.BREAKER, subject, over, figures, sentence)
    yield from _whole_types(pulse, rows, failing)


def _whole_types(pulse: Pulse, rows: Rows, failing: Mapping[str, Set[str]]) -> Iterator[Finding]:
    """The breaker of a whole type: the breakers of several tenants are open, and no try has succeeded in five minutes.
    One trial then serves all tenants. The first success closes it, and leaves each tenant to its own breaker."""
    whole = {subject for subject in rows if scope_of(subject) is None}
    for task_type in whole | {one for one, tenants in failing.items() if len(tenants) >= SEVERAL}:
        one, row = pulse.types.get(task_type, TypePulse()), rows.get(task_type)
        tenants = len(failing.get(task_type, ()))
        well = one.lately_ok > 0 or tenants < SEVERAL
        figures = {"tries": one.lately_ok + one.lately_failed, "failed": one.lately_failed, "tenants": tenants}
        sentence = f"No try of {task_type} succeeded in five minutes, for any of {tenants:,} tenants."
        if row is not None and row.order:
            figures, well = dict(row.figures), False
        yield Finding(Name.BREAKER, task_type, not well, figures, sentence, ends=well)


def _new_of(one: ScopePulse) -> dict[str, int]:
    return {"ok_since": one.new_ok, "failed_since": one.new_failed}


def _sum(row: Safeguard, name: str, more: int) -> int:
    return int(row.figures.get(name, 0)) + more


def _since_end(one: ScopePulse, row: Safeguard, policy: Policy) -> bool:
    ok, failed = (_sum(row, name, more) for name, more in _new_of(one).items())
    return ok + failed >= policy.sample and failed > policy.limit * (ok + failed)


def _tried(scope: Scope, one: ScopePulse, row: Safeguard, policy: Policy, now: float) -> Finding:
    """Whether trials succeed, one by one, and then some more of them at a time."""
    known = row.figures
    tried = bool(one.new_ok or one.new_failed)
    in_a_row = 0 if one.new_failed else int(known.get("in_a_row", 0)) + one.new_ok
    same = known.get("stage") == row.stage
    ok = (int(known.get("ok_here", 0)) if same else 0) + one.new_ok
    failed = (int(known.get("failed_here", 0)) if same else 0) + one.new_failed
    tried_at = now if tried or "tried_at" not in known else float(known["tried_at"])
    if not tried and now - tried_at > QUIET_SECONDS:
        over: bool | None = False
    elif row.stage == 1:
        over = ok + failed >= RELAPSE_SAMPLE and failed > policy.limit * (ok + failed)
    else:
        over = None if 0 < in_a_row < TRIALS else in_a_row < TRIALS
    figures = dict(known) | {"in_a_row": in_a_row, "ok_here": ok, "failed_here": failed, "tried_at": tried_at}
    figures |= {"stage": row.stage, "ok_since": 0, "failed_since": 0}
    sentence = f"{failed:,} of {ok + failed:,} tries {_of(scope)} failed while its breaker was half open."
    return Finding(Name.BREAKER, scope.subject, over, figures, sentence)


def slow_handler(pulse: Pulse, policy: Policy, rows: Rows) -> Iterator[Finding]:
    """Batch sizes follow the pace by themselves; somebody should know why they shrink."""
    if pulse.sampled is None:
        yield from (Finding(Name.SLOW_HANDLER, subject, _still(row), {}) for subject, row in rows.items())
        return
    for task_type, one in pulse.types.items():
        row = rows.get(task_type)
        before = pulse.sampled.before_us.get(task_type)
        if row is not None and _lately_slow(row, pulse.now):
            before = 1000 * float(row.figures["before_ms"])  # as it was when it began
        if before is None or one.lately_run < policy.sample:
            continue
        mean = _mean_us(one)
        over = True if mean > policy.limit * before else False if mean <= SLOW_CALM * policy.limit * before else None
        if over or row is not None:
            figures = {"mean_ms": round(mean / 1000, 3), "before_ms": round(before / 1000, 3), "limit": policy.limit}
            took = (
                f"A task of {task_type} takes {milliseconds(mean / 1000)} now, and took {milliseconds(before / 1000)}"
            )
            yield Finding(Name.SLOW_HANDLER, task_type, over, figures, f"{took} before. Its batches get smaller.")


def _lately_slow(row: Safeguard, now: float) -> bool:
    began = row.stage_since.timestamp() if row.stage and row.stage_since else None
    return began is not None and now - began < USUAL_SECONDS and bool(row.figures.get("before_ms"))


def _mean_us(one: TypePulse) -> float:
    return one.run_us / one.lately_run if one.lately_run else 0.0


def profile(pulse: Pulse, policy: Policy, rows: Rows) -> Iterator[Finding]:
    """The time of day, as it was planned."""
    if not conf().peaks and not rows:
        return
    lanes = slowed_at(conf().peaks, datetime.fromtimestamp(pulse.now, UTC))
    yield Finding(Name.PROFILE, "", bool(lanes), {"lanes": lanes}, "It is a peak of the daily profile.")


def _found(name: str, subject: str, over: bool | None, figures: dict[str, Any], sentence: str, rows: Rows) -> Finding:
    """With the figures that were measured when it began, as long as it is on."""
    row = rows.get(subject)
    if row is not None and row.stage:
        figures |= {one: row.figures[one] for one in FROZEN if one in row.figures}
        if "rates" in row.figures:
            figures["rates"] = _grown(row.figures["rates"], figures.get("rates", {}))
    return Finding(name, subject, over, figures, sentence)


def _grown(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    """What was measured when it began, and where there is much more by now, that: it may have begun with a trickle."""
    more = {one: rate for one, rate in now.items() if rate > GROWN * before.get(one, 0.0)}
    return {**before, **more}


def look(pulse: Pulse, rows: Mapping[str, Rows]) -> tuple[list[Finding], dict[str, Exception]]:
    """What the rules found, and those that failed. One that fails takes no other along, and what it has on stays on."""
    found: list[Finding] = []
    failed: dict[str, Exception] = {}
    for name in (Name.FAILURES, *RULES):
        try:
            found += list(_findings(name, pulse, rows))
        except Exception as error:
            log.exception("safeguard.failed name=%s", name)
            failed[name] = error
            found += [Finding(name, subject, None) for subject in rows.get(name, {})]
    return found, failed


def _findings(name: str, pulse: Pulse, rows: Mapping[str, Rows]) -> Iterator[Finding]:
    policy, mine = conf().safeguards[name], rows.get(name, {})
    if name == Name.FAILURES:
        return failures(pulse, policy, mine, rows.get(Name.BREAKER, {}))
    return RULES[name](pulse, policy, mine)


RULES: dict[str, Callable[[Pulse, Policy, Rows], Iterator[Finding]]] = {
    Name.DELAY: delay,
    Name.RETRIES: retries,
    Name.DEAD_LETTERS: dead_letters,
    Name.BREAKER: breaker,
    Name.SLOW_HANDLER: slow_handler,
    Name.PROFILE: profile,
}
