"""The oracle: from what was asked for and what is there, what was lost, doubled, unexpected, stuck or wrongly dead.

Plain Python over plain evidence, so that a test can hand it a lost task and see it complain.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field

ACCEPTED, UNKNOWN, REFUSED = "accepted", "unknown", "refused"
FINAL = ("SUCCESS", "DEAD", "CANCELLED")
WANTED_FAILURE = "RETRYABLE"  # the code of a task that was asked to fail once


@dataclass(frozen=True)
class Asked:
    """What somebody asked for, and what they were told."""

    state: str  # ACCEPTED: the commit returned. UNKNOWN: it failed. REFUSED: it never came to a commit.
    transactional: bool
    expected: str = "SUCCESS"  # the status it must come to
    times: int = 1  # that it was asked for and accepted: after each it must run, and has a row of its own
    times_unknown: int = 0  # and so often nobody knows whether it was
    leaves: bool = False  # its tenant is archived meanwhile: it may be there without ever having run
    brief: bool = False  # its row may be gone for good once it has taken effect


@dataclass(frozen=True)
class Evidence:
    """What was found when the run was over."""

    asked: Mapping[str, Asked]
    statuses: Mapping[str, list[str]]  # of the rows of each key, live or in the past, the oldest first
    rows: Counter  # effects in the table, by key
    lines: Counter  # effects in the file, by key
    unsettled_runs: Counter  # by key: runs that were started and ended without an outcome of this task
    in_flight: int  # tasks in such runs, all in all; and those that were reported
    lost_batches: int  # started batches whose lease ran out
    batches_at_stake: int  # and so many may, by the faults of the script
    failures: Counter = field(default_factory=Counter)  # attempts, by error code
    broken_rules: list[str] = field(default_factory=list)  # of tasks_app/engine/doctor/
    hung_processes: int = 0
    idle_workers: list[str] = field(default_factory=list)  # took no batch after the last fault
    largest_child_mb: int = 0  # of the workers' pool processes, when all was done
    child_limit_mb: int = 250
    longest_schedule_ms: float = 0.0
    schedule_limit_ms: float | None = None
    in_the_past: int = 0  # rows that were moved there
    moves: bool = False  # and there must be some
    reported: Counter = field(default_factory=Counter)  # by key: what a failover is said to have taken back
    replays: Counter | None = None  # by task: how often the campaign replayed it; None: it replayed none
    campaign: str | None = None  # how the campaign ended: its state, and how far it came; None: there was none
    events_told: int = 0  # to the subscriber that got the fewest
    wrong_edits: list[str] = field(default_factory=list)  # answers to somebody who moved or cancelled tasks
    wrong_events: list[str] = field(default_factory=list)  # lost, invented, or out of turn
    out_of_order: list[str] = field(default_factory=list)  # tasks of graphs that ran before those they wait for
    wrong_answers: list[str] = field(default_factory=list)  # to somebody who asked again for what is over
    wrong_curbs: list[str] = field(default_factory=list)  # left behind, or what they hold back ran all the same
    wrong_leaving: list[str] = field(default_factory=list)  # of a tenant that was archived
    wrong_copies: list[str] = field(default_factory=list)  # of the database that did anything, or didn't notice
    wrong_drains: list[str] = field(
        default_factory=list
    )  # of workers that started something although they were drained
    wrong_numbers: list[str] = field(default_factory=list)  # that two tasks have had
    wrong_starts: list[str] = field(default_factory=list)  # by a site while another one was open
    wrong_sides: list[str] = field(default_factory=list)  # done on a primary after another was promoted
    wrong_turns: list[str] = field(default_factory=list)  # instances of a job that overlapped, or never ended


@dataclass(frozen=True)
class Verdict:
    accepted: int
    unknown: int
    refused: int
    finished: int
    lost: int
    doubled_transactional: int
    doubled_ordinary: int
    doubled_ordinary_bound: int
    unexpected: int
    stuck: int
    dead_by_fault: int
    lost_batches: int
    lost_batches_bound: int
    largest_child_mb: int
    longest_schedule_ms: float
    failures: dict[str, int]
    in_the_past: int
    asked_again: int  # for tasks that were over
    events_told: int
    faults_found: list[str]  # a sentence for each; none: it passed

    @property
    def passed(self) -> bool:
        return not self.faults_found

    def as_dict(self) -> dict:
        return asdict(self) | {"passed": self.passed}


def judge(evidence: Evidence) -> Verdict:
    seen = _Findings()
    for key, asked in evidence.asked.items():
        _judge_key(key, asked, evidence, seen)
    for key in (evidence.statuses.keys() | evidence.rows.keys() | evidence.lines.keys()) - evidence.asked.keys():
        seen.add("unexpected", f"{key} was never asked for")
    _judge_run(evidence, seen)
    states = Counter(asked.state for asked in evidence.asked.values())
    return Verdict(
        accepted=states[ACCEPTED],
        unknown=states[UNKNOWN],
        refused=states[REFUSED],
        finished=seen.count["finished"],
        lost=seen.count["lost"],
        doubled_transactional=seen.count["doubled_transactional"],
        doubled_ordinary=seen.count["doubled_ordinary"],
        doubled_ordinary_bound=evidence.in_flight,
        unexpected=seen.count["unexpected"],
        stuck=seen.count["stuck"],
        dead_by_fault=seen.count["dead_by_fault"],
        lost_batches=evidence.lost_batches,
        lost_batches_bound=evidence.batches_at_stake,
        largest_child_mb=evidence.largest_child_mb,
        longest_schedule_ms=evidence.longest_schedule_ms,
        failures=dict(evidence.failures),
        in_the_past=evidence.in_the_past,
        asked_again=sum(asked.times + asked.times_unknown - 1 for asked in evidence.asked.values()),
        events_told=evidence.events_told,
        faults_found=seen.sentences(),
    )


def given_twice(answered: Iterable[tuple[int, str]], found: Mapping[int, str]) -> Iterator[str]:
    """Numbers that callers were told of, and that other tasks have now, or others were told of."""
    owners = dict(found)
    for number, key in dict.fromkeys(answered):
        if owners.setdefault(number, key) != key:
            yield f"{key} was task {number}, and so is {owners[number]}"


class _Findings:
    """Counts by kind, and the first few of each in words."""

    SHOWN = 5

    def __init__(self) -> None:
        self.count: Counter = Counter()
        self._words: dict[str, list[str]] = {}

    def tally(self, kind: str, number: int = 1) -> None:
        self.count[kind] += number

    def add(self, kind: str, sentence: str, number: int = 1) -> None:
        self.count[kind] += number
        self._words.setdefault(kind, []).append(sentence)

    def sentences(self) -> list[str]:
        found = []
        for kind, words in self._words.items():
            found += [f"{kind}: {sentence}" for sentence in words[: self.SHOWN]]
            if len(words) > self.SHOWN:
                found.append(f"{kind}: and {len(words) - self.SHOWN} more")
        return found


def _judge_key(key: str, asked: Asked, evidence: Evidence, seen: _Findings) -> None:
    statuses = evidence.statuses.get(key, [])
    if not statuses and asked.brief and evidence.rows[key]:
        statuses = [asked.expected]  # it took effect, and was dropped with its partition
    if not statuses:
        if asked.state == ACCEPTED:
            seen.add("lost", f"{key} was accepted, and there is no such task")
        elif evidence.rows[key] + evidence.lines[key] > evidence.reported[key]:
            seen.add("unexplained", f"{key} took effect, there is no such task, and nobody says so")
        return
    if asked.state == REFUSED:
        seen.add("unexpected", f"{key} is there although its transaction never came to a commit")
        return
    if len(statuses) < asked.times:
        seen.add("lost", f"{key} was asked for {asked.times} times and has {len(statuses)} rows: {statuses}")
    if len(statuses) > asked.times + asked.times_unknown:
        seen.add("unexpected", f"{key} was asked for {asked.times} times and has {len(statuses)} rows: {statuses}")
    for status in statuses[:-1]:
        if status != asked.expected:
            seen.add("unexpected", f"{key} was asked for again after a row that is {status}")
    _judge_status(key, statuses[-1], min(len(statuses), asked.times + asked.times_unknown), asked, evidence, seen)


def _judge_status(key: str, status: str, runs: int, asked: Asked, evidence: Evidence, seen: _Findings) -> None:
    """`status` is that of its last row; each of the `runs` that were asked for takes effect once."""
    effects = (evidence.rows if asked.transactional else evidence.lines)[key]
    if (evidence.lines if asked.transactional else evidence.rows)[key]:
        seen.add("unexpected", f"{key} has an effect of another kind of handler")
    if status not in FINAL and asked.leaves:
        seen.tally("left")
        runs = 0
    elif status not in FINAL:
        seen.add("stuck", f"{key} is still {status}")
    elif status == asked.expected:
        seen.tally("finished")
    elif status == "DEAD":
        seen.add("dead_by_fault", f"{key} is DEAD, and was to be {asked.expected}")
    else:
        seen.add("unexpected", f"{key} is {status}, and was to be {asked.expected}")
    if status == "SUCCESS" and effects < runs:
        words = "its effect never happened" if runs == 1 else f"only {effects} of {runs} effects happened"
        seen.add("lost", f"{key} is SUCCESS, and {words}")
    if status == "DEAD" and effects and asked.transactional:
        seen.add("unexpected", f"{key} is DEAD, and its effect was committed")
    if effects > runs and asked.transactional:
        seen.add("doubled_transactional", f"{key} took effect {effects} times", effects - runs)
    elif effects > runs:
        seen.tally("doubled_ordinary", effects - runs)
        open_runs = evidence.unsettled_runs[key] + evidence.reported[key]
        if effects > runs + open_runs:
            seen.add(
                "unexplained", f"{key} took effect {effects} times, but only {open_runs} of its runs went unsettled"
            )


def _judge_run(evidence: Evidence, seen: _Findings) -> None:
    if evidence.lost_batches > evidence.batches_at_stake:
        seen.add(
            "lost_batches",
            f"{evidence.lost_batches} running batches were lost, and the faults explain {evidence.batches_at_stake}",
        )
    if seen.count["doubled_ordinary"] > evidence.in_flight:
        seen.add(
            "unexplained", f"{seen.count['doubled_ordinary']} effects too many, and {evidence.in_flight} in flight"
        )
    others = {code: number for code, number in evidence.failures.items() if code != WANTED_FAILURE}
    if evidence.batches_at_stake == 0 and others:
        seen.add("failures", f"no fault may fail a task here, but there are failures {others}")
    if evidence.moves and not evidence.in_the_past:
        seen.add("idle", "nothing was moved to the past")
    if evidence.campaign is not None:
        _judge_campaign(evidence, seen)
    for sentence in evidence.out_of_order:
        seen.add("out_of_order", sentence)
    for sentence in evidence.wrong_turns:
        seen.add("turn", sentence)
    for sentence in evidence.wrong_leaving:
        seen.add("leaving", sentence)
    for sentence in evidence.wrong_copies:
        seen.add("copies", sentence)
    for sentence in evidence.wrong_drains:
        seen.add("drain", sentence)
    for sentence in evidence.wrong_starts:
        seen.add("site", sentence)
    for sentence in evidence.wrong_sides:
        seen.add("side", sentence)
    for sentence in evidence.wrong_curbs:
        seen.add("curb", sentence)
    for sentence in evidence.wrong_answers:
        seen.add("wrong_answer", sentence)
    for sentence in evidence.wrong_numbers:
        seen.add("number", sentence)
    for sentence in evidence.wrong_edits:
        seen.add("edit", sentence)
    for sentence in evidence.wrong_events:
        seen.add("event", sentence)
    for rule in evidence.broken_rules:
        seen.add("rule", rule)
    if evidence.hung_processes:
        seen.add("hung", f"{evidence.hung_processes} processes did not end after SIGTERM")
    for name in evidence.idle_workers:
        seen.add("idle", f"{name} took no batch after the last fault")
    if evidence.largest_child_mb > evidence.child_limit_mb:
        seen.add("memory", f"a pool process has {evidence.largest_child_mb} MB, more than {evidence.child_limit_mb}")
    limit = evidence.schedule_limit_ms
    if limit is not None and evidence.longest_schedule_ms > limit:
        seen.add("schedule", f"a call of schedule() took {evidence.longest_schedule_ms:g} ms, more than {limit:g}")


def _judge_campaign(evidence: Evidence, seen: _Findings) -> None:
    """Each task that it was for was dealt with once, whoever was killed; what ran is judged like all other tasks."""
    if evidence.campaign != "DONE":
        seen.add("stuck", f"the campaign is {evidence.campaign or 'gone'}")
    for task, times in (evidence.replays or {}).items():
        if times != 1:
            seen.add("replayed", f"the campaign replayed task {task} {times} times")
