"""What the beats ask about the scheduler itself for alarms: the same verdict that people see on the overview."""

from collections.abc import Iterator

from .core.alarms import Condition, Occurrence
from .engine.watch.safeguard_status import acting
from .engine.watch.status import read_status
from .engine.watch.verdict.problem import Severity


def troubles() -> Iterator[Occurrence]:
    """Each rule of the verdict is a cause of its own."""
    for problem in read_status().found:
        if problem.severity is Severity.TROUBLE:
            sample = {"sentence": problem.sentence, "way_out": problem.way_out}
            yield Occurrence(Condition.TROUBLE, None, problem.rule, sample=sample)


def safeguards() -> Iterator[Occurrence]:
    """Each that is on is a cause of its own."""
    for one in acting():
        sample = {
            "sentence": one.told,
            "way_out": f"`manage.py rules end {one.name} {one.subject}".rstrip() + "` ends it.",
        }
        yield Occurrence(Condition.SAFEGUARD, None, f"{one.name} {one.subject}".rstrip(), sample=sample)
