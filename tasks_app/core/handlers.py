"""The registry of handlers: what runs for a task type, and under which rules."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict

from .calls import (
    ALL_TASKS,
    ONE_TASK,
    TASK_AND_ANSWER,
    is_async,
    place_of,
    refuse_what_never_runs,
    refuse_wrong_arguments,
)
from .errors import InvalidConfiguration, InvalidTask, nearest
from .lanes import DEFAULT_LANE, LANES
from .limit import Limit, limit_from
from .parameters import Parameters, parameters_of, typed_call
from .recording import recorded
from .retry import DEFAULT_MAX_RETRY, MAX_RETRY_LIMIT, Delays, RetryPolicy, policy_from
from .task import Task
from .tenants import DEFAULT_TENANT, TENANT_LENGTH

if TYPE_CHECKING:
    from .timer import Timer

DEFAULT_TIMEOUT_SECONDS = 60.0
NAME_LENGTH = 100
MAX_AT_ONCE = 256
ASYNC_AT_ONCE = 16  # of an async handler that doesn't say; as many database connections, if all of them use it


@dataclass(frozen=True)
class Handler:
    name: str
    call: Callable[..., Any]
    timeout: float
    max_retry: int
    policy: RetryPolicy
    lane: str
    concurrency: int
    transactional: bool
    batch: bool
    apply: Callable[..., Any] | None
    limit: Limit | None = None
    batch_max: int | None = None  # tasks in one batch, at most; None: BATCH_MAX
    timer: "Timer | None" = None  # a next roll waits for the next of its moments
    tenant: str | None = None  # whose all its tasks are; None: that of whoever schedules them
    api: bool | frozenset[str] = False  # open to tokens of the REST API: to none, to all, or to those of these tenants
    is_async: bool = False
    parameters: Parameters | None = None  # of a typed handler; None: it takes the task
    retention: str | None = None  # the class in which its tasks are kept when they are over; None: that of their tenant
    named_only: bool = False  # open to those tokens only whose scope names it
    logs: bool = False  # what it says to Python's logging is kept with its tries
    encrypted: bool = False  # what its tasks are given and leave behind is encrypted with the key of their tenant
    settled: Callable[[Sequence[Any]], None] | None = None  # called with each part of a batch once it is settled
    declared_at: str = field(compare=False, default="")

    def is_open_to(self, tenant: str) -> bool:
        """Whether a token of this tenant may have it run."""
        if self.tenant not in (None, tenant):
            return False
        return self.api if isinstance(self.api, bool) else tenant in self.api

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
            found.append("apply= takes one task and its answer, and batch=True makes one call for all. Drop one.")
        if self.batch and self.logs:
            found.append(
                "batch=True makes one call for the whole batch, so nobody can tell which of its tasks a log record is "
                "about. Drop logs=True, and give each task its own lines with task.log()."
            )
        return found


class Registry:
    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self.encrypted: frozenset[str] = frozenset()  # types that ask for it
        self.finder: Callable[[str], str] | None = None  # declares a type that a worker meets, or says why it can't

    def add(self, handler: Handler) -> None:
        known = self._handlers.get(handler.name)
        if known is not None and known.declared_at != handler.declared_at:
            raise InvalidConfiguration(
                f"handler {handler.name!r} is declared twice, at {known.declared_at} and at "
                f"{handler.declared_at}; a task type has one handler. Rename one."
            )
        self._handlers[handler.name] = handler
        self._note_encrypted()

    def get(self, name: str) -> Handler | None:
        return self._handlers.get(name)

    def find(self, name: str) -> tuple[Handler | None, str]:
        """The handler, declared now if it can be; if not, why."""
        why = "" if self.finder is None else self.finder(name)
        return self._handlers.get(name), why

    def require(self, name: str) -> Handler:
        handler = self._handlers.get(name) if isinstance(name, str) else None
        if handler is None:
            raise InvalidTask(
                f"task type {name!r} has no handler.{nearest(str(name), self._handlers)} "
                "Declare one with @handler(...) in a module named handlers of an installed app."
            )
        return handler

    def tenant_of(self, name: str, given: str | None = None) -> str:
        """Whose tasks of this type are meant: the given tenant's, else the one its handler names, else the default."""
        if given is not None:
            return given
        handler = self._handlers.get(name) if isinstance(name, str) else None
        return DEFAULT_TENANT if handler is None or handler.tenant is None else handler.tenant

    def limited(self, names: Iterable[str]) -> set[str]:
        """Those of the types that have a limit."""
        return {name for name in set(names) if self.is_limited(name)}

    def is_limited(self, name: str) -> bool:
        handler = self._handlers.get(name)
        return handler is not None and handler.limit is not None

    def refuse_without_payload(self, names: Iterable[str]) -> None:
        """A unit that has no task yet has no payload to keep, and a typed handler can't run without."""
        for name in set(names):
            found = self._handlers.get(name)
            if found is not None and found.parameters is not None and found.parameters.required:
                raise InvalidTask(
                    f"handler {name!r} takes {', '.join(found.parameters.names)}, and this unit has no task whose "
                    "payload could be kept. Give the payload."
                )

    def discard(self, name: str) -> None:
        self._handlers.pop(name, None)
        self._note_encrypted()

    def _note_encrypted(self) -> None:
        self.encrypted = frozenset(one.name for one in self._handlers.values() if one.encrypted)

    def __iter__(self) -> Iterator[Handler]:
        return iter(self._handlers.values())


REGISTRY = Registry()


class HandlerOptions(TypedDict, total=False):
    """The options of handler(), for whoever passes them on."""

    timeout: float | timedelta
    max_retry: int | None
    backoff: RetryPolicy | Sequence[float] | None
    lane: str
    concurrency: int | None
    transactional: bool
    batch: bool
    apply: Callable[[Task, Any], object] | None
    rate: float | None
    burst: int | None
    max_running: int | None
    batch_max: int | None
    round_to: str | float | timedelta
    tenant: str | None
    api: bool | Iterable[str]
    key: str | Sequence[str] | None
    retention: str | None
    logs: bool
    encrypted: bool


def handler(
    name: str,
    *,
    timeout: float | timedelta = DEFAULT_TIMEOUT_SECONDS,
    max_retry: int | None = None,
    backoff: RetryPolicy | Sequence[float] | None = None,
    lane: str = DEFAULT_LANE,
    concurrency: int | None = None,
    transactional: bool = False,
    batch: bool = False,
    apply: Callable[..., Any] | None = None,
    rate: float | None = None,
    burst: int | None = None,
    max_running: int | None = None,
    batch_max: int | None = None,
    round_to: str | float | timedelta = 0,
    tenant: str | None = None,
    api: bool | Iterable[str] = False,
    key: str | Sequence[str] | None = None,
    retention: str | None = None,
    logs: bool = False,
    encrypted: bool = False,
    typed: bool = False,
    named_only: bool = False,
    depth: int = 1,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the decorated function as the handler of task type `name`; returns it unchanged.

    `typed`: even if it takes nothing but the task. `named_only`: of the tokens that `api` opens it to, only those whose
    scope names it may use it. `depth`: how many callers away the declaration is, for what has no name of its own.
    """
    policy = policy_from(backoff)
    if max_retry is None:
        max_retry = len(policy.seconds) if isinstance(policy, Delays) else DEFAULT_MAX_RETRY
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
    _refuse_bad_options(name, seconds, max_retry, lane, concurrency)
    _refuse_bad_batch_max(name, batch_max)
    timer = _timer(name, round_to)
    limit = limit_from(name, rate, burst, max_running)
    opened = api if isinstance(api, bool) else _tenants(name, api)
    if tenant is not None and not (isinstance(tenant, str) and 0 < len(tenant) <= TENANT_LENGTH):
        raise InvalidConfiguration(
            f"handler {name!r}: tenant={tenant!r} must be the name of a tenant, of 1 to {TENANT_LENGTH} characters, or "
            "None for that of whoever schedules."
        )
    if apply is not None:
        _refuse_bad_apply(name, apply)
    if not isinstance(logs, bool):
        raise InvalidConfiguration(
            f"handler {name!r}: logs={logs!r} must be True, to keep what it logs with its tries, or False."
        )
    if not isinstance(encrypted, bool):
        raise InvalidConfiguration(
            f"handler {name!r}: encrypted={encrypted!r} must be True, to encrypt what its tasks are given and leave "
            "behind, or False."
        )

    def declare(call: Callable[..., Any]) -> Callable[..., Any]:
        where = f"handler {name!r}: "
        refuse_what_never_runs(call, where)
        parameters = None if batch else parameters_of(name, call, key, typed=typed)
        if parameters is None:
            refuse_wrong_arguments(call, where, ALL_TASKS if batch else ONE_TASK)
            _refuse_key_of_untyped(name, key)
        awaited = is_async(call)
        if awaited and transactional:
            raise InvalidConfiguration(
                f"handler {name!r} is async, so it can't have transactional=True: a transaction belongs to one "
                "connection in one thread, and the event loop runs many tasks in turns. Make it a plain function, or "
                "leave the writing to apply=."
            )
        called = call if parameters is None else typed_call(call, parameters, awaited=awaited)
        REGISTRY.add(
            Handler(
                name=name,
                call=recorded(called, awaited=awaited) if logs and not batch else called,
                timeout=float(seconds),
                max_retry=max_retry,
                policy=policy,
                lane=lane,
                concurrency=concurrency or (ASYNC_AT_ONCE if awaited and not batch else 1),
                transactional=transactional,
                batch=batch,
                apply=recorded(apply, awaited=False) if logs and apply is not None else apply,
                limit=limit,
                batch_max=batch_max,
                timer=timer,
                tenant=tenant,
                api=opened,
                is_async=awaited,
                parameters=parameters,
                retention=retention,
                named_only=named_only,
                logs=logs,
                encrypted=encrypted,
                declared_at=place_of(call, depth=depth),
            )
        )
        return call

    return declare


def _refuse_bad_options(name: object, timeout: object, max_retry: object, lane: object, concurrency: object) -> None:
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
    if concurrency is None:
        return
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or not 1 <= concurrency <= MAX_AT_ONCE:
        raise InvalidConfiguration(
            f"handler {name!r}: concurrency={concurrency!r} must be a whole number from 1 to {MAX_AT_ONCE}."
        )


def _refuse_bad_apply(name: str, apply: Any) -> None:
    where = f"handler {name!r}: apply="
    refuse_what_never_runs(apply, where)
    refuse_wrong_arguments(apply, where, TASK_AND_ANSWER)
    if is_async(apply):
        raise InvalidConfiguration(
            f"{where}{place_of(apply)} is async, but it runs inside the transaction that settles the task, in the "
            "thread of that transaction. Make it a plain function; only the call before it may be async."
        )


def _refuse_key_of_untyped(name: str, key: object) -> None:
    if key is not None:
        raise InvalidConfiguration(
            f"handler {name!r}: key={key!r} names parameters, and this handler takes the task alone. Give the key to "
            "schedule(), or let the handler take typed parameters."
        )


def _refuse_bad_batch_max(name: object, batch_max: object) -> None:
    if batch_max is not None and (isinstance(batch_max, bool) or not isinstance(batch_max, int) or batch_max < 1):
        raise InvalidConfiguration(f"handler {name!r}: batch_max={batch_max!r} must be a whole number, 1 or more.")


def _timer(name: object, round_to: object) -> "Timer | None":
    if round_to is not False and round_to in (None, "", 0):
        return None
    from .timer import timer_from

    try:
        return timer_from(round_to)
    except InvalidTask as error:
        words = str(error) if "round_to=" in str(error) else f"round_to={round_to!r}: {error}"
        raise InvalidConfiguration(f"handler {name!r}: {words}") from None


def _tenants(name: object, api: object) -> frozenset[str]:
    tenants = list(api) if isinstance(api, Iterable) and not isinstance(api, str | bytes) else []
    if not tenants or not all(isinstance(one, str) and one for one in tenants):
        raise InvalidConfiguration(
            f"handler {name!r}: api={api!r} must be True for the tokens of every tenant, a list of tenants such as "
            "['acme'], or False for none."
        )
    return frozenset(tenants)


def refuse_other_tenant(handler: Handler, tenant: str) -> None:
    if handler.tenant not in (None, tenant):
        raise InvalidTask(
            f"task type {handler.name!r} belongs to tenant {handler.tenant!r}, as its handler says, and not to "
            f"{tenant!r}. Leave the tenant out."
        )


def refuse_bad_max_retry(value: object, error: type[Exception], where: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_RETRY_LIMIT:
        raise error(f"{where}max_retry={value!r} must be a whole number from 0 to {MAX_RETRY_LIMIT}.")


def refuse_bad_lane(value: object, error: type[Exception], where: str = "") -> None:
    if value not in LANES:
        raise error(f"{where}lane {value!r} doesn't exist.{nearest(str(value), LANES)} Lanes are {', '.join(LANES)}.")
