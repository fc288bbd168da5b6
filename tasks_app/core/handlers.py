"""The registry of handlers: what runs for a task type, and under which rules."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from .errors import InvalidConfiguration, InvalidTask, nearest
from .lanes import DEFAULT_LANE, LANES
from .limit import Limit, limit_from
from .retry import DEFAULT_MAX_RETRY, MAX_RETRY_LIMIT, Delays, RetryPolicy, policy_from
from .timer import Timer, timer_from

DEFAULT_TIMEOUT_SECONDS = 60.0
NAME_LENGTH = 100
MAX_THREADS = 256


@dataclass(frozen=True)
class Handler:
    name: str
    call: Callable
    timeout: float
    max_retry: int
    policy: RetryPolicy
    lane: str
    concurrency: int
    transactional: bool
    batch: bool
    apply: Callable | None
    limit: Limit | None = None
    batch_max: int | None = None  # tasks in one batch, at most; None: BATCH_MAX
    timer: Timer | None = None  # a next roll waits for the next of its moments
    declared_at: str = field(compare=False, default="")

    @property
    def settles_with_effects(self) -> bool:
        """Whether handler code runs inside the settle transaction."""
        return self.transactional or self.apply is not None

    def contradictions(self) -> list[str]:
        """Pairs of options that make no sense together, in words."""
        found = []
        if self.transactional and self.concurrency > 1:
            found.append(
                "transactional=True runs a batch in one transaction on one connection, so it can't use "
                f"concurrency={self.concurrency}. Drop one; for a slow call followed by a write use apply=."
            )
        if self.batch and self.concurrency > 1:
            found.append(
                f"batch=True makes one call for the whole batch, so concurrency={self.concurrency} has "
                "nothing to run side by side. Drop one."
            )
        if self.transactional and self.apply is not None:
            found.append(
                "apply= already runs inside the settle transaction, and the call before it must not. "
                "Drop transactional=True."
            )
        if self.batch and self.apply is not None:
            found.append("apply= takes one task and its answer, and batch=True has one call for all. Drop one.")
        return found


class Registry:
    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}

    def add(self, handler: Handler) -> None:
        known = self._handlers.get(handler.name)
        if known is not None and known.declared_at != handler.declared_at:
            raise InvalidConfiguration(
                f"handler {handler.name!r} is declared twice, at {known.declared_at} and at "
                f"{handler.declared_at}; a task type has one handler. Rename one."
            )
        self._handlers[handler.name] = handler

    def get(self, name: str) -> Handler | None:
        return self._handlers.get(name)

    def require(self, name: str) -> Handler:
        handler = self._handlers.get(name) if isinstance(name, str) else None
        if handler is None:
            raise InvalidTask(
                f"task type {name!r} has no handler.{nearest(str(name), self._handlers)} "
                "Declare one with @handler(...) in a module named handlers of an installed app."
            )
        return handler

    def limited(self, names: Iterable[str]) -> set[str]:
        """Those of the types that have a limit."""
        found = (self._handlers.get(name) for name in set(names))
        return {handler.name for handler in found if handler is not None and handler.limit is not None}

    def discard(self, name: str) -> None:
        self._handlers.pop(name, None)

    def __iter__(self):
        return iter(self._handlers.values())


REGISTRY = Registry()


def handler(
    name: str,
    *,
    timeout: float | timedelta = DEFAULT_TIMEOUT_SECONDS,
    max_retry: int | None = None,
    backoff: RetryPolicy | Sequence[float] | None = None,
    lane: str = DEFAULT_LANE,
    concurrency: int = 1,
    transactional: bool = False,
    batch: bool = False,
    apply: Callable | None = None,
    rate: float | None = None,
    burst: int | None = None,
    max_running: int | None = None,
    batch_max: int | None = None,
    round_to: str | float | timedelta = 0,
) -> Callable[[Callable], Callable]:
    """Declare the decorated function as the handler of task type `name`; returns it unchanged."""
    policy = policy_from(backoff)
    if max_retry is None:
        max_retry = len(policy.seconds) if isinstance(policy, Delays) else DEFAULT_MAX_RETRY
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
    _refuse_bad_options(name, seconds, max_retry, lane, concurrency)
    _refuse_bad_batch_max(name, batch_max)
    timer = _timer(name, round_to)
    limit = limit_from(name, rate, burst, max_running)

    def declare(call: Callable) -> Callable:
        REGISTRY.add(
            Handler(
                name=name,
                call=call,
                timeout=float(seconds),
                max_retry=max_retry,
                policy=policy,
                lane=lane,
                concurrency=concurrency,
                transactional=transactional,
                batch=batch,
                apply=apply,
                limit=limit,
                batch_max=batch_max,
                timer=timer,
                declared_at=f"{call.__module__}.{call.__qualname__}",
            )
        )
        return call

    return declare


def _refuse_bad_options(name: object, timeout: object, max_retry: object, lane: object, concurrency: object):
    if not isinstance(name, str) or not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise InvalidConfiguration(
            f"handler name {name!r:.120}: use 1 to {NAME_LENGTH} printable characters, such as 'ARTICLE_PUBLISH'."
        )
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
        raise InvalidConfiguration(
            f"handler {name!r}: timeout={timeout!r} must be more than 0 seconds. Every handler needs an end."
        )
    refuse_bad_max_retry(max_retry, InvalidConfiguration, f"handler {name!r}: ")
    refuse_bad_lane(lane, InvalidConfiguration, f"handler {name!r}: ")
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or not 1 <= concurrency <= MAX_THREADS:
        raise InvalidConfiguration(
            f"handler {name!r}: concurrency={concurrency!r} must be a whole number from 1 to {MAX_THREADS}."
        )


def _refuse_bad_batch_max(name: object, batch_max: object) -> None:
    if batch_max is not None and (isinstance(batch_max, bool) or not isinstance(batch_max, int) or batch_max < 1):
        raise InvalidConfiguration(f"handler {name!r}: batch_max={batch_max!r} must be a whole number, 1 or more.")


def _timer(name: object, round_to: object) -> Timer | None:
    try:
        return timer_from(round_to)
    except InvalidTask as error:
        words = str(error) if "round_to=" in str(error) else f"round_to={round_to!r}: {error}"
        raise InvalidConfiguration(f"handler {name!r}: {words}") from None


def refuse_bad_max_retry(value: object, error: type[Exception], where: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_RETRY_LIMIT:
        raise error(f"{where}max_retry={value!r} must be a whole number from 0 to {MAX_RETRY_LIMIT}.")


def refuse_bad_lane(value: object, error: type[Exception], where: str = "") -> None:
    if value not in LANES:
        raise error(f"{where}lane {value!r} does not exist.{nearest(str(value), LANES)} Lanes are {', '.join(LANES)}.")
