"""tail: why the latest tasks of `punctual` were late: how far each of them had come when its moment was there, and what
the machine, PostgreSQL and our own processes did until its handler was called. Watching takes some of a processor too.
"""

import os
import subprocess
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from . import host, punctual, trail
from .peers.programs import record
from .stack import ROOT, Stack

GOALS: dict = {}
OPTIONS = ("rate", "late")
LATE_MS = 15
SHOWN = 10  # of those that were latest
MUCH = 0.25  # of a moment: from here on it counts as stolen, covered by a step, or waited for


class Stage(NamedTuple):
    """A part of the way to a handler, by the machine's clock."""

    name: str
    begun: float
    ended: float


class Late(NamedTuple):
    """A task that was late, and how far it had come."""

    number: int
    due: float
    at: float  # when its handler was called
    stages: list[Stage]

    @property
    def worst(self) -> Stage:
        """In which most of the time after its moment went by."""
        return max(self.stages, key=lambda one: min(one.ended, self.at) - max(one.begun, self.due))

    @property
    def moment(self) -> tuple[float, float]:
        """What is to be explained: from the beginning of that stage, if that was shortly before."""
        return max(self.worst.begun, self.due - 0.05), self.at


def run(stack: Stack, rate: int | None = None, late: int = LATE_MS) -> dict:
    figures = {}
    for one in (rate,) if rate else (200, 1000):
        with _watched(stack) as samples_file:
            found = punctual.measure(stack, one, **{trail.FILE: os.environ[trail.FILE]})
        figures |= _told(one, found, host.samples(samples_file), late / 1000)
    return figures


@contextmanager
def _watched(stack: Stack) -> Iterator[Path]:
    os.environ[trail.FILE] = str(stack.folder / "trail")
    Path(os.environ[trail.FILE]).write_text("")
    file = stack.folder / "samples"
    watcher = subprocess.Popen([sys.executable, "-m", "bench.host", str(file), str(os.getpid())], cwd=ROOT)
    try:
        yield file
    finally:
        watcher.terminate()
        watcher.wait()


def _told(rate: int, found: punctual.Late, samples: list[host.Sample], late_seconds: float) -> dict:
    steps = sorted(trail.steps(), key=lambda step: step.begun)
    late = late_ones(found.due, {start.number: start.at for start in record.starts()}, steps, late_seconds)
    first, last = found.due[0], found.due[-1]
    whole = Machine([one for one in samples if first <= one.at <= last])
    print(f"at {rate}/s: {len(late)} of {len(found.due)} were late by more than {late_seconds * 1000:.0f} ms")
    if not late:
        return {f"late_at_{rate}": 0}
    length = median(one.moment[1] - one.moment[0] for one in late)
    anywhere = [(at, at + length) for at in _every(0.05, first, last - length)]
    moments = [one.moment for one in late]
    print("  their stage when most of it went by:")
    for name, count in Counter(one.worst.name for one in late).most_common():
        print(f"    {count:5}  {name}")
    print(f"  what was going on then, and at any moment of {length * 1000:.0f} ms:")
    causes = Causes(steps, whole)
    then, ever = causes.shares(moments), causes.shares(anywhere)
    for name in sorted(then, key=then.get, reverse=True):
        if then[name] >= 0.02:
            print(f"    {then[name]:5.0%}  {ever.get(name, 0.0):5.0%}  {name}")
    print("  processor time, in % of one; and how long they waited for one:")
    then, ever = whole.taken(moments), whole.taken([(first, last)])
    for name in sorted(then, key=then.get, reverse=True)[:14]:
        print(f"    {then[name]:5.0%}  {ever.get(name, 0.0):5.0%}  {name}")
    _print_latest(late, causes)
    return {f"late_at_{rate}": len(late)} | {
        f"lateness_{name}_ms_at_{rate}": round(punctual.percentile(found.warm, share), 2)
        for name, share in punctual.SHARES.items()
    }


def _print_latest(late: list[Late], causes: "Causes") -> None:
    print("  the latest, one of each twentieth of a second:")
    shown: set[int] = set()
    for one in sorted(late, key=lambda one: one.due - one.at):
        if (place := round(one.at * 20)) in shown or len(shown) == SHOWN:
            continue
        shown.add(place)
        way = ", ".join(
            f"{stage.name} {(stage.begun - one.due) * 1000:+.0f}..{(stage.ended - one.due) * 1000:+.0f}"
            for stage in one.stages
        )
        print(f"    {(one.at - one.due) * 1000:4.0f} ms at {one.due % 1000:.3f}: {way}")
        print(f"          {', '.join(causes.of(*one.moment)) or 'nothing that was looked for'}")


def late_ones(
    due: Sequence[float] | Mapping[int, float], called: dict[int, float], steps: Sequence[trail.Step], more: float
) -> list[Late]:
    """Those that were late by more than so many seconds, with their way as far as it was written down."""
    by_batch: dict[str, dict[str, trail.Step]] = {}
    batch_of: dict[int, str] = {}
    looks: dict[str, list[trail.Step]] = {}
    for step in steps:
        if step.name == "start":
            batch_of |= dict.fromkeys(step.about[1:], step.about[0])
        for batch in step.about[:1] if step.name == "start" else step.about:
            by_batch.setdefault(batch, {})[step.name] = step
            if step.name == "ready":
                looks.setdefault(batch, []).append(step)
    return [
        Late(number, due[number], at, list(_stages(by_batch.get(batch_of.get(number), {}), looks, at)))
        for number, at in called.items()
        if at - due[number] > more
    ]


def _stages(way: dict[str, trail.Step], looks: dict[str, list[trail.Step]], at: float) -> Iterator[Stage]:
    """From the claim to the call, one after the other."""
    edges = [("not claimed", "claim", "begun"), ("claim", "claim", "ended"), ("publish", "publish", "ended")]
    edges += [("in the queue", "receive", "begun"), ("to a child", "start", "begun"), ("start", "start", "ended")]
    begun = at - 1.0
    for name, step, edge in edges:
        if step in way:
            ended = getattr(way[step], edge)
            yield Stage(name, begun, ended)
            begun = ended
    asked = [one for one in looks.get(way["start"].about[0], ()) if one.begun < at] if "start" in way else []
    if asked:
        yield Stage("asleep, or others of its batch", begun, asked[-1].begun)
        yield Stage("second look", asked[-1].begun, min(asked[-1].ended, at))
        begun = min(asked[-1].ended, at)
    yield Stage("after the last look", begun, at)


class Machine:
    """What was sampled, for any moment."""

    def __init__(self, samples: Sequence[host.Sample]) -> None:
        self._samples = samples
        self._times = [one.at for one in samples]

    def around(self, begun: float, ended: float) -> Sequence[host.Sample]:
        """The samples of this moment, with one before and one after it."""
        first = max(bisect_right(self._times, begun) - 1, 0)
        return self._samples[first : bisect_left(self._times, ended) + 1]

    def taken(self, moments: Sequence[tuple[float, float]]) -> dict[str, float]:
        """Of one processor, by what took it; and what had to wait for one."""
        total, seconds = Counter(), 0.0
        for begun, ended in moments:
            around = self.around(begun, ended)
            before, after = around[0], around[-1]
            seconds += after.at - before.at
            total["stolen"] += after.stolen - before.stolen
            total["idle"] += after.idle - before.idle
            total["other programs"] += after.busy - before.busy
            for name in after.took:
                took = max(after.took[name] - before.took.get(name, 0.0), 0.0)
                total[name] += took
                total["other programs"] -= took
                total[f"{name} waited for one"] += max(after.queued[name] - before.queued.get(name, 0.0), 0.0)
        return {name: value / max(seconds, 1e-9) for name, value in total.items()}


class Causes:
    """What can have made a task late, for any moment."""

    def __init__(self, steps: Sequence[trail.Step], machine: Machine) -> None:
        besides = [step for step in steps if step.name.startswith("chore ")]
        besides += [step for step in steps if step.name in ("collection", "connect", "replan", "planner", "leases")]
        self._besides = sorted(besides, key=lambda step: step.begun)
        self._machine = machine

    def of(self, begun: float, ended: float) -> list[str]:
        found = [f"{name} {share:.0%}" for name, share in self._parts(begun, ended).items() if share >= MUCH]
        return sorted(found)

    def shares(self, moments: Sequence[tuple[float, float]]) -> dict[str, float]:
        """Of how many of these moments each was a good part."""
        counted = Counter(name for moment in moments for name, share in self._parts(*moment).items() if share >= MUCH)
        return {name: count / len(moments) for name, count in counted.items()}

    def _parts(self, begun: float, ended: float) -> dict[str, float]:
        """Each with the part of the moment that it took."""
        length, parts = max(ended - begun, 1e-6), Counter()
        for step in self._besides:
            if step.begun >= ended:
                break
            if step.ended > begun:
                parts[step.name] += (min(step.ended, ended) - max(step.begun, begun)) / length
        around = self._machine.around(begun, ended)
        if len(around) > 1:
            seconds = (around[-1].at - around[0].at) * os.cpu_count()
            parts["stolen by the host"] = (around[-1].stolen - around[0].stolen) / seconds
            parts["no processor free"] = float(around[-1].idle - around[0].idle < 0.1 * seconds)
            for name in {name for sample in around for name in sample.waits}:
                parts[f"PostgreSQL: {name}"] = sum(name in sample.waits for sample in around) / len(around)
        return parts


def _every(seconds: float, begun: float, ended: float) -> Iterator[float]:
    while begun < ended:
        yield begun
        begun += seconds
