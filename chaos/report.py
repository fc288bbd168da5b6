"""A result in words."""

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .recovery import Recovery
    from .runner import Result


def lines(result: "Result") -> list[str]:
    verdict = result.verdict
    asked = f"accepted {verdict.accepted:,}, unknown {verdict.unknown}, refused {verdict.refused}"
    doubled = f"{verdict.doubled_ordinary} of at most {verdict.doubled_ordinary_bound} in flight"
    batches = f"{verdict.lost_batches} of at most {verdict.lost_batches_bound} at stake"
    return [
        f"  {asked}; finished {verdict.finished:,}, the last {result.drained_after:g} s after the load ended",
        f"  lost {verdict.lost}, doubled transactional {verdict.doubled_transactional}, doubled ordinary {doubled},",
        f"  unexpected {verdict.unexpected}, stuck {verdict.stuck}, dead by fault {verdict.dead_by_fault}",
        f"  running batches lost: {batches}; failures {verdict.failures}",
        f"  {verdict.in_the_past:,} are in the past; {verdict.asked_again} were asked for again after they were over",
        f"  longest schedule() {verdict.longest_schedule_ms:g} ms; largest pool process {verdict.largest_child_mb} MB",
        *_recovery_lines(result),
        *(f"  !! {sentence}" for sentence in verdict.faults_found),
        *(f"  !! too slow after: {one.fault} (rto {one.rto}, punctual {one.punctual})" for one in result.slow),
        f"{'PASS' if result.passed else 'FAIL'} {result.scenario.name}",
    ]


def _recovery_lines(result: "Result") -> list[str]:
    by_kind = defaultdict(list)
    for one in result.recoveries:
        by_kind[f"{one.fault.kind} {one.fault.target}"].append(one)
    found = []
    for kind, some in by_kind.items():
        rtos = ", ".join("never" if one.rto is None else f"{one.rto:g}" for one in some)
        waited = max((one.in_flight for one in some if one.in_flight is not None), default=0.0)
        found.append(f"  rto in s after {kind}: {rtos}; tasks in flight waited at most {waited:g} s")
        late = ", ".join(_punctual(one) for one in some)
        found.append(f"    and on time again after: {late}")
    return found


def _punctual(one: "Recovery") -> str:
    again = "not before it ended" if one.punctual is None else f"{one.punctual:g}"
    after = f", and {one.late_afterwards} late afterwards" if one.late_afterwards else ""
    return f"{again}{after}" if one.kept_up else f"{again} (late before it, too){after}"
