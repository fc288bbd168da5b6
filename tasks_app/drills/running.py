"""Runs one drill from nothing to its figures."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tasks_app import __version__

from .drill import Drill
from .judging import judge
from .stack import USUAL, Recipe, drill_stack

if TYPE_CHECKING:
    from .scene import Scene


@dataclass(frozen=True)
class Options:
    tasks: int  # that only lie there
    rate: float  # tasks a second
    seconds: float | None = None  # the load goes on for so long after the damage, at most
    punctual: Mapping[str, object] | None = None  # settings of the installation's that the stack has, too
    warm: float = 6.0  # seconds of load before the damage, at least


def perform(drill: Drill, options: Options, say: Callable[[str], None]) -> dict[str, Any]:
    """What `--json` prints of one drill."""
    begun = time.monotonic()
    with performed(drill, options, say) as (_, result):
        pass
    return result | {"took_s": round(time.monotonic() - begun, 1)}


@contextmanager
def performed(
    drill: Drill, options: Options, say: Callable[[str], None], recipe: Recipe = USUAL
) -> Iterator[tuple[Scene, dict[str, Any]]]:
    """The scene as it is at the end, when its stack still runs, and what `--json` prints but for how long it took."""
    at = datetime.now(UTC)
    seconds = options.seconds or drill.limits.rto + drill.margin
    with ExitStack() as ending:
        say(f"{drill.name}: {drill.story}")
        say("starting a stack of its own")
        stack = ending.enter_context(
            drill_stack(options.punctual or {}, standby=drill.standby, backup=drill.backup, recipe=recipe)
        )
        # Its modules need Django.
        from .load import Load, fill
        from .scene import Scene

        scene = Scene(stack, Load(options.rate), options.tasks, say, ending.enter_context(ExitStack()))
        ending.callback(scene.load.stop_client)
        fill(options.tasks, say)
        drill.prepare(scene)
        scene.listen()
        stack.start_fleet(drill.site)
        say(f"load: {options.rate:g} tasks a second")
        scene.warm_up(seconds + 2 * options.warm, options.warm)
        mark = drill.strike(scene)
        scene.note_in_flight(mark)
        say(f"load goes on until all is well again; the limit is {drill.limits.rto:g} s after {drill.since}")
        ended = scene.until_back(mark, seconds)
        scene.drain(ended)
        figures = judge(scene.evidence(mark, ended), drill.limits)
        missing = {"gone": sorted(scene.gone), "ran_and_ran_again": sorted(scene.undone)}
        if not figures.met:
            say(stack.logs())
        result = {
            "drill": drill.name,
            "at": at.isoformat(timespec="seconds"),
            **asdict(figures),
            "met": figures.met,
            "limit_s": drill.limits.rto,
            "rpo_limit_s": drill.limits.rpo,
            "since": drill.since,
            "tasks": options.tasks,
            "rate": options.rate,
            "ran": len({one.key for one in scene.done}),
            "cores": os.cpu_count(),
            "version": __version__,
            **({"missing": missing} if drill.limits.rpo else {}),
        }
        yield scene, result
