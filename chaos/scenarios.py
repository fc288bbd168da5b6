"""The scenarios: which faults come when, and against whom. All of it is decided by the seed before anything starts."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

BEATS = ("beat-1", "beat-2")
WORKERS = ("worker-1", "worker-2")
SLOTS = 2  # of each worker
RUN_LEASE_SECONDS = 4.0  # as in settings.py; a test compares them

TENANT = "default"  # of all tasks
LEAVING = "leaving"  # a tenant that has half of them, where one does

QUIET_START, QUIET_END = 2.0, 8.0  # seconds without a fault at both ends of a run: to get going, and to get over it

WAVES = tuple(6.0 * n for n in range(9))  # seconds after the start of the run: when many tasks come due at once

MOVES = {"CHAOS_MOVES": "1"}
EVENTS = {"CHAOS_EVENTS": "1"}
EDITS = {"CHAOS_EDITS": "1"}
GRAPHS = {"CHAOS_GRAPHS": "1"}
SAFEGUARDS = {"CHAOS_SAFEGUARDS": "1"}
ARCHIVE = {"CHAOS_ARCHIVE": "1"}
FEW_AHEAD = {"CHAOS_FEW_AHEAD": "1"}
HOLDS = ("degraded", "low", "type", "trial", "retries", "tenant")  # as in curbs.py; a test compares them


@dataclass(frozen=True)
class Fault:
    at: float  # seconds after the start of the run
    kind: str  # a name in faults.py
    target: str
    seconds: float = 0.0  # until it is undone

    @property
    def batches_at_stake(self) -> int:
        """So many running batches may be lost by it, at most; what is only queued is never lost."""
        everybody = SLOTS * len(WORKERS)
        if self.kind in ("kill", "freeze"):
            return SLOTS if self.target in WORKERS else 0
        return {
            "kill_child": 1,
            "stop_postgres": everybody,
            "cut_connections": everybody,
            "lose_primary": everybody,
            "stall_site": SLOTS,
            "cut_site": SLOTS,
            "split": SLOTS,
        }.get(self.kind, 0)

    def __str__(self) -> str:
        lasting = f" for {self.seconds:g} s" if self.seconds else ""
        return f"{self.at:6.1f} s  {self.kind} {self.target}{lasting}"


@dataclass(frozen=True)
class Scenario:
    name: str
    story: str
    seconds: float
    faults: Callable[[random.Random], Iterable[Fault]] = lambda dice: ()
    env: dict[str, str] = field(default_factory=dict)  # faults that live inside the processes
    poison_each: int = 0
    longest_schedule_ms: float | None = None
    replays: bool = False  # a quarter as many tasks have died before, and a campaign replays them meanwhile
    backfills: bool = False  # a campaign makes up for two weeks of a job meanwhile
    edits: bool = False  # the client moves and cancels tasks, too
    events: bool = False  # all are kept and told to subscribers, and each must be matched by a change
    graphs: bool = False  # jobs that wait for each other run beside the tasks, of which there are a tenth as many
    webhooks: bool = False  # and one of the subscribers is a receiver of webhooks
    turns: bool = False  # jobs that must not run over themselves fire every second
    crowds: bool = False  # tenants share a lane: half of the tasks come in waves, of two of them
    leaves: bool = False  # half of the tasks are of a tenant that is archived meanwhile
    drains: bool = False  # workers are drained and taken back
    holds: bool = False  # safeguards are forced and ended, and a witness sees what they hold back
    moves: bool = False  # what is over goes to the past at once, and what is of BRIEF_TYPE goes for good soon after
    standby: bool = False  # the database has a synchronous standby, and every process knows both servers
    lags: bool = False  # or an asynchronous one: what was acknowledged may be lost, and what of it was seen is told
    sites: bool = False  # the second beat and worker are a site of their own, which stands by at first
    judges_recovery: bool = True  # False: how long each recovery took is told, not judged, since others use the machine

    def script(self, seed: int) -> list[Fault]:
        """Same seed, same faults, at the same moments against the same targets."""
        return sorted(self.faults(random.Random(f"{seed}/{self.name}")), key=lambda fault: fault.at)


def every(seconds: float, until: float, start: float = QUIET_START) -> list[float]:
    return [start + n * seconds for n in range(int((until - start) / seconds) + 1)]


def spread(dice: random.Random, times: int, until: float) -> list[float]:
    """So many moments, one in each equal part of the time, so that no two fall together by chance."""
    part = (until - QUIET_START) / times
    return [round(QUIET_START + part * (n + dice.uniform(0, 0.6)), 2) for n in range(times)]


def _kill(dice: random.Random) -> Iterable[Fault]:
    victims = [("kill", name) for name in BEATS + WORKERS] + [("kill_child", name) for name in WORKERS]
    for at in every(3, until=60):
        yield Fault(at, *dice.choice(victims))


def _freeze(dice: random.Random) -> Iterable[Fault]:
    for at, names in ((2, WORKERS), (18, BEATS)):
        yield Fault(at, "freeze", dice.choice(names), 3 * RUN_LEASE_SECONDS)


def _terminate(dice: random.Random) -> Iterable[Fault]:
    for at in every(3, until=26):
        yield Fault(at, "terminate", dice.choice(BEATS + WORKERS))


def _flush(dice: random.Random) -> Iterable[Fault]:
    for at in spread(dice, times=10, until=27):
        yield Fault(at, "flush_broker", "broker")


def _kill_broker(dice: random.Random) -> Iterable[Fault]:
    yield Fault(round(dice.uniform(2, 3), 2), "kill_broker", "broker", 3)
    # Long enough for whoever waits ever longer between two tries to come back too late.
    yield Fault(round(dice.uniform(13, 14), 2), "kill_broker", "broker", 21)


def _stall_broker(dice: random.Random) -> Iterable[Fault]:
    yield Fault(round(dice.uniform(2, 4), 2), "stall_broker", "broker", 45)


def _refuse(dice: random.Random) -> Iterable[Fault]:
    yield Fault(round(dice.uniform(2, 3), 2), "make_broker_readonly", "broker", 6)
    yield Fault(round(dice.uniform(14, 16), 2), "fill_broker", "broker", 6)


def _rubbish(dice: random.Random) -> Iterable[Fault]:
    for at in spread(dice, times=6, until=20):
        yield Fault(at, "rubbish", dice.choice(("critical", "default", "low")))
    yield Fault(8.0, "break_lane", dice.choice(("critical", "default", "low")), 4)


def _postgres(dice: random.Random) -> Iterable[Fault]:
    for at in spread(dice, times=5, until=37):
        yield Fault(at, "stop_postgres", "database", 1)


def _failover(dice: random.Random) -> Iterable[Fault]:
    """Once, since there is one standby; with other seeds at other moments. Not while a fleet that has just begun is
    late: or nobody could say whether tasks are on time again."""
    yield Fault(round(dice.uniform(12, 18), 2), "lose_primary", "database", round(dice.uniform(0.5, 4), 2))


def _failover_async(dice: random.Random) -> Iterable[Fault]:
    """The standby is behind when the primary dies: what was acknowledged in between is lost."""
    at = round(dice.uniform(12, 17), 2)
    yield Fault(at, "cut_standby", "database")
    yield Fault(round(at + dice.uniform(0.3, 1.5), 2), "lose_primary", "database", round(dice.uniform(0.5, 4), 2))


def _copy(dice: random.Random) -> Iterable[Fault]:
    """In the middle of the load, so that much of it is claimed, running or due when the copy is taken."""
    yield Fault(round(dice.uniform(4, 8), 2), "copy", "database", 20)


def _site(dice: random.Random) -> Iterable[Fault]:
    """A switch there and back with all alive; then twice away from a site that is cut off, without a word or with its
    connections broken, which comes back while the other one works."""
    at = round(dice.uniform(3, 5), 2)
    yield Fault(at, "switch_site", "b")
    yield Fault(at + 10, "switch_site", "main")
    for kind in dice.sample(["stall_site", "cut_site"], 2):
        at += 20
        yield Fault(at, kind, "main", round(dice.uniform(8, 12), 2))
        yield Fault(at + round(dice.uniform(0.5, 3), 2), "switch_site", "b")
        at += 24
        yield Fault(at, "switch_site", "main")


def _split(dice: random.Random) -> Iterable[Fault]:
    """Site b goes on with a promoted standby, and the primary beside site main is found and stopped only later."""
    at = round(dice.uniform(10, 14), 2)
    lasting = round(dice.uniform(12, 16), 2)
    yield Fault(at, "split", "sites", lasting)
    yield Fault(round(at + dice.uniform(1, 4), 2), "promote", "b")
    yield Fault(round(at + lasting + 10, 2), "switch_site", "main")


def _cut(dice: random.Random) -> Iterable[Fault]:
    for at in every(2, until=32):
        yield Fault(at, "cut_connections", "database")


def _move(dice: random.Random) -> Iterable[Fault]:
    """Whatever can end a mover, and some of what else goes on meanwhile, in an order of the seed's own."""
    menu = [("kill", name, 0) for name in BEATS * 3 + WORKERS * 2]
    menu += [("flush_broker", "broker", 0), ("cut_connections", "database", 0), ("stop_postgres", "database", 1)] * 2
    dice.shuffle(menu)
    for at, (kind, target, seconds) in zip(spread(dice, times=len(menu), until=68), menu, strict=True):
        yield Fault(at, kind, target, seconds)


def _replay(dice: random.Random) -> Iterable[Fault]:
    """Whatever can end a step of a campaign; the beats above all."""
    menu = [("kill", name, 0) for name in BEATS * 4 + WORKERS]
    menu += [("cut_connections", "database", 0), ("stop_postgres", "database", 1)] * 2
    dice.shuffle(menu)
    for at, (kind, target, seconds) in zip(spread(dice, times=len(menu), until=44), menu, strict=True):
        yield Fault(at, kind, target, seconds)


def _turns(dice: random.Random) -> Iterable[Fault]:
    """Whatever can come between a settle and the next turn, or between two steps of a decision; beats above all."""
    menu = [("kill", name, 0) for name in BEATS * 4 + WORKERS * 2]
    menu += [("cut_connections", "database", 0), ("stop_postgres", "database", 1)] * 2
    menu += [("freeze", dice.choice(BEATS), 5), ("flush_broker", "broker", 0)]
    dice.shuffle(menu)
    for at, (kind, target, seconds) in zip(spread(dice, times=len(menu), until=54), menu, strict=True):
        yield Fault(at, kind, target, seconds)


def _relay(dice: random.Random) -> Iterable[Fault]:
    """Whatever can come between two steps of a relay, in an order of the seed's own."""
    menu = [("kill", name, 0) for name in BEATS * 4 + WORKERS]
    menu += [("flush_broker", "broker", 0), ("cut_connections", "database", 0), ("stop_postgres", "database", 1)] * 2
    menu += [("freeze", name, 5) for name in BEATS]
    menu += [("kill_receiver", "receiver", 3), ("freeze_receiver", "receiver", 4)] * 2
    dice.shuffle(menu)
    for at, (kind, target, seconds) in zip(spread(dice, times=len(menu), until=66), menu, strict=True):
        yield Fault(at, kind, target, seconds)


def _graph(dice: random.Random) -> Iterable[Fault]:
    """Whoever plans, releases, dispatches or works, killed at a hundred moments: a beat is the first three of them."""
    victims = [("kill", name) for name in BEATS + WORKERS] + [("kill_child", name) for name in WORKERS]
    for at in spread(dice, times=100, until=222):
        yield Fault(at, *dice.choice(victims))


def _safeguards(dice: random.Random) -> Iterable[Fault]:
    """Curbs go on and off, by somebody's word or by themselves, while whoever decides and acts is killed or frozen."""
    menu = [(kind, name, 10) for kind in ("hold", "lapse") for name in HOLDS]
    menu += [("kill", name, 0) for name in BEATS * 2 + WORKERS]  # not so often that all of it is about starting them
    menu += [("cut_connections", "database", 0), ("stop_postgres", "database", 1)] * 2
    menu += [("freeze", name, 5) for name in BEATS]
    dice.shuffle(menu)
    moments = list(zip(spread(dice, times=len(menu), until=74), menu, strict=True))
    stops = [at for at, (kind, _, _) in moments if kind == "stop_postgres"]
    for at, (kind, target, seconds) in moments:
        while kind == "hold" and any(stop - 1 < at + seconds < stop + 2 for stop in stops):
            seconds += 1  # nobody can end it while the database is away
        yield Fault(at, kind, target, seconds)


def _suspend(dice: random.Random) -> Iterable[Fault]:
    """Each suspension is over before the next begins; half of the kills come while one lasts."""
    for number, at in enumerate(every(8, until=42)):
        yield Fault(at, "suspend", TENANT, round(dice.uniform(2, 4), 2))
        killed = at + (dice.uniform(0.2, 1.8) if number % 2 else dice.uniform(5, 7))
        yield Fault(round(killed, 2), "kill", dice.choice(BEATS + WORKERS))


def _drain(dice: random.Random) -> Iterable[Fault]:
    """One worker after the other, so that one is left to work; a beat dies meanwhile, and every other time the second
    one when the worker is taken back."""
    for number, at in enumerate(every(11, until=42)):
        yield Fault(at, "drain", WORKERS[number % len(WORKERS)], 8.0)
        first, second = dice.sample(BEATS, 2)
        yield Fault(round(at + dice.uniform(0.3, 3), 2), "kill", first)
        if number % 2:
            yield Fault(round(at + dice.uniform(7.5, 9), 2), "kill", second)


def _leave(dice: random.Random) -> Iterable[Fault]:
    """Beats do it, so most of the others are for them; the archive begins when half of its tasks have run."""
    yield Fault(24.0, "archive_tenant", LEAVING)
    menu = [("kill", name, 0) for name in BEATS * 3 + WORKERS]
    menu += [("cut_connections", "database", 0)] * 2 + [("stop_postgres", "database", 1)]
    menu += [("freeze", name, 5) for name in BEATS]
    dice.shuffle(menu)
    moments = [24.5 + 2.2 * (n + dice.uniform(0, 0.6)) for n in range(len(menu))]
    for at, (kind, target, seconds) in zip(moments, menu, strict=True):
        yield Fault(round(at, 2), kind, target, seconds)


def _crowd(dice: random.Random) -> Iterable[Fault]:
    """Each wave meets a kill, most of them of whoever shares out the lane."""
    for at in WAVES[:-1]:
        yield Fault(round(QUIET_START + at + dice.uniform(0.1, 0.8), 2), "kill", dice.choice(BEATS * 2 + WORKERS))


def _small(dice: random.Random) -> Iterable[Fault]:
    """A bit of everything that takes no longer than a lease, in an order of the seed's own."""
    menu = [
        ("kill", dice.choice(WORKERS), 0),
        ("kill", dice.choice(BEATS), 0),
        ("kill_child", dice.choice(WORKERS), 0),
        ("flush_broker", "broker", 0),
        ("rubbish", "default", 0),
        ("cut_connections", "database", 0),
        ("stop_postgres", "database", 0.5),
    ]
    dice.shuffle(menu)
    for at, (kind, target, seconds) in zip(every(1, until=20, start=1.0), menu, strict=False):
        yield Fault(at, kind, target, seconds)


ALL = {
    scenario.name: scenario
    for scenario in (
        Scenario("kill", "kill -9 of a beat, a worker's parent or a worker's child, every 3 s for 60 s", 68, _kill),
        Scenario("freeze", "SIGSTOP of a worker, then of a beat, for three leases each, then SIGCONT", 40, _freeze),
        Scenario("terminate", "SIGTERM of a beat or worker under load, every 3 s", 34, _terminate),
        Scenario("flush", "the broker flushed ten times", 34, _flush),
        Scenario("kill-broker", "the broker killed, and back empty after 3 s, and later after 21 s", 46, _kill_broker),
        Scenario("stall-broker", "the broker stopped (SIGSTOP) for 45 s", 58, _stall_broker, longest_schedule_ms=1000),
        Scenario("refuse", "the broker answers READONLY for 6 s, and later out of memory for 6 s", 32, _refuse),
        Scenario("rubbish", "rubbish and forged messages in the queues, and a lane whose key is no list", 28, _rubbish),
        Scenario("twice", "every batch published twice and out of order", 24, env={"CHAOS_TWICE": "1"}),
        Scenario("stop-postgres", "PostgreSQL stopped with -m immediate five times, away for 1 s", 46, _postgres),
        Scenario(
            "failover",
            "the primary killed with -9, all of its processes, and a synchronous standby promoted soon after",
            40,
            _failover,
            EDITS | FEW_AHEAD,
            edits=True,
            standby=True,
        ),
        Scenario(
            "failover-async",
            "the primary killed with -9, all of its processes, and an asynchronous standby promoted that was behind",
            40,
            _failover_async,
            EVENTS | EDITS | FEW_AHEAD,
            events=True,
            edits=True,
            standby=True,
            lags=True,
        ),
        Scenario(
            "copy",
            "a copy of the database's files started beside it, with a beat and a worker that have the original's "
            "settings, broker and receivers",
            40,
            _copy,
            EVENTS,
            events=True,
            webhooks=True,
        ),
        Scenario(
            "site",
            "two sites; one takes over from the other and back, also while that is cut off from the database",
            104,
            _site,
            sites=True,
        ),
        Scenario(
            "split",
            "two sites that lose sight of each other: the standby beside one is promoted, the primary beside the other "
            "goes on",
            54,
            _split,
            standby=True,
            sites=True,
        ),
        Scenario("cut-connections", "all database connections terminated every 2 s", 40, _cut),
        Scenario(
            "lie",
            "5 % of all commits happen and then report an error, in every process",
            30,
            env={"CHAOS_LIES": "0.05"},
        ),
        Scenario(
            "poison", "handlers that kill, hang, leak, raise BaseException, break their transaction", 36, poison_each=4
        ),
        Scenario(
            "move",
            "what is over moved at once and dropped soon after; beats and workers killed, the broker flushed, "
            "PostgreSQL stopped, connections cut",
            78,
            _move,
            MOVES,
            moves=True,
        ),
        Scenario(
            "replay",
            "a campaign replays dead tasks; beats and workers killed, PostgreSQL stopped, connections cut",
            54,
            _replay,
            replays=True,
        ),
        Scenario(
            "turns",
            "jobs that must not run over themselves fire every second; beats and workers killed, a beat stopped for "
            "more than a lease, PostgreSQL stopped, connections cut, the broker flushed",
            64,
            _turns,
            turns=True,
        ),
        Scenario(
            "backfill",
            "two weeks of a job are backfilled, 4,032 instances; beats and workers killed, PostgreSQL stopped, "
            "connections cut",
            54,
            _replay,
            backfills=True,
        ),
        Scenario(
            "relay",
            "three subscribers to all events, of which a function and a receiver of webhooks are slow and fail at "
            "random; beats killed and stopped for more than a lease, the receiver killed and stopped for more than "
            "the time that a call may take, PostgreSQL stopped, connections cut, the broker flushed",
            76,
            _relay,
            EVENTS,
            events=True,
            webhooks=True,
        ),
        Scenario(
            "graph",
            "500 graphs of 20 jobs; kill -9 of a beat, a worker's parent or a worker's child at 100 moments",
            234,
            _graph,
            GRAPHS,
            graphs=True,
        ),
        Scenario(
            "safeguards",
            "safeguards hold lanes, types and retries back, ten times for 10 s, and let them go; beats killed and "
            "stopped for more than a lease, workers killed, PostgreSQL stopped, connections cut",
            98,
            _safeguards,
            SAFEGUARDS,
            holds=True,
        ),
        Scenario(
            "suspend",
            "the tenant suspended and resumed six times; kill -9 of beats and workers, half of it meanwhile",
            60,
            _suspend,
        ),
        Scenario(
            "drain",
            "workers drained for 8 s and taken back, in turn, four times; kill -9 of a beat six times meanwhile",
            58,
            _drain,
            drains=True,
        ),
        Scenario(
            "leave",
            "a tenant with half of the tasks is archived; meanwhile beats killed and stopped for more than a lease, "
            "workers killed, PostgreSQL stopped, connections cut",
            64,
            _leave,
            ARCHIVE,
            leaves=True,
        ),
        Scenario(
            "crowd",
            "two tenants whose tasks come in waves share a lane with others; kill -9 of a beat or worker in each wave",
            60,
            _crowd,
            crowds=True,
        ),
        Scenario(
            "small",
            "a bit of everything, in a minute",
            16,
            _small,
            MOVES | EVENTS,
            events=True,
            turns=True,
            moves=True,
            judges_recovery=False,
        ),
    )
}
FULL = tuple(name for name in ALL if name != "small")
