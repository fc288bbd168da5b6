"""The tasks of a run, made from the seed: three lanes, eight types, one in ten fails once, one in twenty is slow."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

LANES = ("critical", "default", "low")
ROW_TYPES = ("CHAOS_ROW", "CHAOS_ROW_BATCH", "CHAOS_ROW_TWO_PHASE", "CHAOS_ROW_ASYNC")
LINE_TYPES = ("CHAOS_LINE", "CHAOS_LINE_BATCH", "CHAOS_LINE_THREADS", "CHAOS_LINE_ASYNC")
BRIEF_TYPE = "CHAOS_ROW_BATCH"  # in a retention class of its own, which some scenarios drop while they run
BACKFILLED_TYPE = "CHAOS_ROW"
LARGE = ("large", "vast")  # tenants
FAILS_ONCE, SLOW = 0.10, 0.05
SLOW_SECONDS = (0.02, 0.1)
MENDED = "mended"  # the file that is there once tasks that died can succeed

# Poison, and what it must come to. A leak is poison for its process only: the task itself succeeds.
POISONS = {
    "kill": "DEAD",
    "never_return": "DEAD",
    "never_return_stubbornly": "DEAD",
    "base_exception": "DEAD",
    "break_transaction": "DEAD",
    "end_transaction": "DEAD",
    "leak": "SUCCESS",
}
POISON_MAX_RETRY = 1
# Where each poison is put: into a mode in which it does its worst.
POISON_TYPES = dict.fromkeys(("break_transaction", "end_transaction"), ROW_TYPES[:2])


@dataclass(frozen=True)
class Wish:
    """One task that somebody will ask for."""

    key: str
    task_type: str
    lane: str
    at: float  # seconds after the start of the run
    payload: dict = field(default_factory=dict)
    tenant: str = "default"

    @property
    def poison(self) -> str | None:
        return self.payload.get("poison")


def is_transactional(task_type: str) -> bool:
    return task_type in ROW_TYPES


def innocents(dice: random.Random, tasks: int, seconds: float) -> list[Wish]:
    """Tasks spread evenly over the run, so that there is load whenever a fault comes."""
    return [innocent(dice, f"task-{n}", seconds * n / tasks) for n in range(tasks)]


def crowded(wishes: Sequence[Wish], waves: Sequence[float]) -> list[Wish]:
    """Half of them come in waves, of two tenants and in one lane; the others as they would, of tenants with few."""
    found = []
    for n, wish in enumerate(wishes):
        if n % 2:
            found.append(replace(wish, tenant=LARGE[n // 2 % 2], lane="default", at=waves[n // 4 % len(waves)]))
        else:
            found.append(replace(wish, tenant=f"small-{n % 5}"))
    return found


def departing(wishes: Sequence[Wish], tenant: str) -> list[Wish]:
    """Every second one is of this tenant."""
    return [replace(wish, tenant=tenant) if n % 2 else wish for n, wish in enumerate(wishes)]


def innocent(dice: random.Random, key: str, at: float = 0.0) -> Wish:
    payload: dict = {}
    if dice.random() < FAILS_ONCE:
        payload["fails"] = True
    if dice.random() < SLOW:
        payload["slow"] = round(dice.uniform(*SLOW_SECONDS), 3)
    return Wish(key, dice.choice(ROW_TYPES + LINE_TYPES), dice.choice(LANES), at, payload)


def hopeless(dice: random.Random, tasks: int) -> list[Wish]:
    """Tasks that die before the run begins, and succeed when they are replayed."""
    return [
        Wish(f"hopeless-{n}", dice.choice(ROW_TYPES + LINE_TYPES), dice.choice(LANES), 0.0, {"hopeless": True})
        for n in range(tasks)
    ]


def instances(job: int, firings: Iterable[datetime]) -> list[Wish]:
    """What a backfill of a job is to run; each leaves its effect as a row."""
    return [Wish(f"{job}:{at.isoformat().replace('+00:00', 'Z')}", BACKFILLED_TYPE, "low", 0.0) for at in firings]


def poisonous(dice: random.Random, each: int, seconds: float) -> list[Wish]:
    """So many of each poison in the first two thirds of the run, in the types and lanes of the innocents."""
    return [
        Wish(
            f"poison-{poison}-{n}",
            dice.choice(POISON_TYPES.get(poison, ROW_TYPES + LINE_TYPES)),
            dice.choice(LANES),
            round(dice.uniform(0, seconds * 2 / 3), 3),
            {"poison": poison},
        )
        for poison in POISONS
        for n in range(each)
    ]
