"""A declared handler as its app uses it: called directly, scheduled, moved, cancelled and found, all of it typed.

`handler` gives one of three: a TypedHandler for a function with typed parameters, a TaskHandler for one that takes the
task, a BatchHandler for one that takes a list of tasks.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypedDict,
    TypeVar,
    TypeVarTuple,
    Unpack,
    cast,
    overload,
)

from tasks_app.core import handlers as registry
from tasks_app.core.errors import InvalidTask, nearest, shown
from tasks_app.core.handlers import REGISTRY, Handler, HandlerOptions
from tasks_app.core.imports import when_called
from tasks_app.core.parameters import Checked, Parameters
from tasks_app.core.task import Task
from tasks_app.lifecycle.cancel import Cancelled
from tasks_app.lifecycle.decisions import Scheduled
from tasks_app.lifecycle.request import Key, key_of
from tasks_app.lifecycle.schedule import SYSTEM

from . import scheduling

if TYPE_CHECKING:
    from tasks_app.lifecycle.view import TaskInfo

_find: "Callable[..., TaskInfo | None]" = when_called("tasks_app.lifecycle.view:find")

P = ParamSpec("P")  # what is scheduled
C = ParamSpec("C")  # what a direct call takes: the same, after the task if the handler takes it too
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")
Ts = TypeVarTuple("Ts")


class CancelOptions(TypedDict, total=False):
    """What cancel() takes beside the handler's own arguments."""

    key: Key | None
    tenant: str | None
    reason: str
    by: str


class MoveOptions(TypedDict, total=False):
    """What reschedule() and ensure() take beside the handler's own arguments."""

    at: datetime | None
    delay: timedelta | float | None
    key: Key | None
    tenant: str | None
    by: str


class Options(TypedDict, total=False):
    """What schedule() takes beside the handler's own arguments."""

    at: datetime | None
    delay: timedelta | float | None
    key: Key | None
    lane: str | None
    max_retry: int | None
    repeat_after: timedelta | float | None
    expires_after: timedelta | float | None
    idem_key: str | None
    tenant: str | None


class AllOptions(Options, total=False):
    """What options() takes: each verb refuses what it has no use for."""

    reason: str
    by: str


_TO_SCHEDULE = tuple(Options.__annotations__)
_TO_MOVE = tuple(MoveOptions.__annotations__)
_TO_CANCEL = tuple(CancelOptions.__annotations__)
_TO_FIND = ("key", "tenant")
_ALL = (*_TO_SCHEDULE, "reason", "by")


@dataclass(frozen=True, slots=True)
class Arguments(Generic[P]):
    """The arguments of one task, checked, with the options beside them."""

    task_type: str
    key: str
    payload: Mapping[str, Any]  # as it is stored
    options: Mapping[str, Any]

    def as_mapping(self) -> dict[str, Any]:
        """As schedule_many() takes it."""
        return {**self.options, "key": self.key, "payload": self.payload}


class _Takes(Protocol[*Ts]):
    def args(self, *args: *Ts) -> Any: ...


class Prepared(Generic[P]):
    """A typed handler with options for what is scheduled next: `send.options(delay=60).schedule(5)`."""

    def __init__(self, parameters: Parameters, options: Mapping[str, Any]) -> None:
        self._parameters = parameters
        self._options = options

    def args(self, *args: P.args, **kwargs: P.kwargs) -> Arguments[P]:
        """Arguments for schedule_many() and for the payload of a job."""
        options, payload = self._known("schedule_many", _TO_SCHEDULE), self._parameters.dump(args, kwargs)
        return Arguments(self._parameters.handler, self._key(payload), payload, options)

    def key(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """The key of the unit that these arguments are about."""
        return self._key(self._parameters.dump(args, kwargs))

    def schedule(self, *args: P.args, **kwargs: P.kwargs) -> Scheduled:
        """As django_punctual.schedule, with these arguments."""
        return self._with_payload(scheduling.schedule, _TO_SCHEDULE, args, kwargs)

    def reschedule(self, *args: P.args, **kwargs: P.kwargs) -> Scheduled:
        """As django_punctual.reschedule; at= or delay= is needed."""
        return self._with_payload(scheduling.reschedule, _TO_MOVE, args, kwargs)

    def ensure(self, *args: P.args, **kwargs: P.kwargs) -> Scheduled:
        """As django_punctual.ensure; at= or delay= is needed."""
        return self._with_payload(scheduling.ensure, _TO_MOVE, args, kwargs)

    def cancel(self, *args: P.args, **kwargs: P.kwargs) -> Cancelled:
        """Cancel what is live of the unit that these arguments are about."""
        options = self._known("cancel", _TO_CANCEL)
        return scheduling.cancel(self._parameters.handler, self.key(*args, **kwargs), **options)

    def find(self, *args: P.args, **kwargs: P.kwargs) -> "TaskInfo | None":
        """The current task of the unit that these arguments are about."""
        options = self._known("find", _TO_FIND)
        return _find(self._parameters.handler, self.key(*args, **kwargs), **options)

    def _with_payload(self, verb: Callable[..., Scheduled], known: Sequence[str], args: Any, kwargs: Any) -> Scheduled:
        options, payload = self._known(verb.__name__, known), self._parameters.dump(args, kwargs)
        return verb(self._parameters.handler, self._key(payload), payload=payload, **options)

    def _known(self, verb: str, known: Sequence[str]) -> dict[str, Any]:
        """The options but the key; what the verb has no use for is refused."""
        for name in self._options:
            if name not in known:
                raise InvalidTask(
                    f"{verb} of {self._parameters.handler} takes no {name}=; it takes {', '.join(known)}."
                )
        return {name: value for name, value in self._options.items() if name != "key"}

    def _key(self, payload: Checked) -> str:
        given = self._options.get("key")
        return self._parameters.key_of(payload) if given is None else key_of(given)


class _Named:
    """What every declared handler has: it is the function still, with a task type."""

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        functools.update_wrapper(cast(Any, self), call, updated=())
        self.name = name
        self._call = call

    def __repr__(self) -> str:
        return f"<handler {self.name} {getattr(self._call, '__qualname__', self._call)}>"


class TypedHandler(_Named, Generic[C, P, R_co]):
    """A handler with typed parameters. Called directly it runs here and now, without the scheduler."""

    def __init__(self, name: str, call: Callable[..., Any], parameters: Parameters) -> None:
        super().__init__(name, call)
        self._parameters = parameters
        self._prepared: Prepared[P] = Prepared(parameters, {})

    def __call__(self, *args: C.args, **kwargs: C.kwargs) -> R_co:
        return cast(R_co, self._call(*args, **kwargs))

    def options(self, **options: Unpack[AllOptions]) -> Prepared[P]:
        """When and how, before what: the handler's own arguments come after it, by position or by name."""
        unknown = next((name for name in options if name not in _ALL), None)
        if unknown is not None:
            raise InvalidTask(f"options() takes no {unknown}=.{nearest(unknown, _ALL)} It takes {', '.join(_ALL)}.")
        return Prepared(self._parameters, options)

    @overload
    def schedule(self, *args: P.args, **kwargs: P.kwargs) -> Scheduled: ...
    @overload
    def schedule(self: _Takes[*Ts], *args: *Ts, **options: Unpack[Options]) -> Scheduled: ...
    def schedule(self, *args: Any, **kwargs: Any) -> Scheduled:  # type: ignore[misc]  # (mypy and TypeVarTuple)
        """Schedule a task with these arguments in the caller's transaction: CREATED, or EXISTS if it is live already.

        Options such as at= may follow the arguments. What is also a parameter of the handler is its argument: then say
        `options(at=…).schedule(…)`, and for a type checker also if arguments are given by name or left out.
        """
        prepared, kwargs = self._split(kwargs)
        return prepared.schedule(*args, **kwargs)

    @overload
    def reschedule(self, *args: P.args, **kwargs: P.kwargs) -> Scheduled: ...
    @overload
    def reschedule(self: _Takes[*Ts], *args: *Ts, **options: Unpack[MoveOptions]) -> Scheduled: ...
    def reschedule(self, *args: Any, **kwargs: Any) -> Scheduled:  # type: ignore[misc]  # (mypy and TypeVarTuple)
        """Move the unit of these arguments to another time, as django_punctual.reschedule does."""
        prepared, kwargs = self._split(kwargs)
        return prepared.reschedule(*args, **kwargs)

    @overload
    def ensure(self, *args: P.args, **kwargs: P.kwargs) -> Scheduled: ...
    @overload
    def ensure(self: _Takes[*Ts], *args: *Ts, **options: Unpack[MoveOptions]) -> Scheduled: ...
    def ensure(self, *args: Any, **kwargs: Any) -> Scheduled:  # type: ignore[misc]  # (mypy and TypeVarTuple)
        """From now on this must run at this time, as django_punctual.ensure does."""
        prepared, kwargs = self._split(kwargs)
        return prepared.ensure(*args, **kwargs)

    def schedule_many(self, tasks: Iterable[Arguments[P]], **common: Unpack[Options]) -> list[Scheduled]:
        """Schedule many in a few statements: `send.schedule_many((send.args(id) for id in ids), delay=60)`.

        What args() was given by options() comes before what is common to all.
        """
        return scheduling.schedule_many(self.name, (self._mapping(one) for one in tasks), **common)

    def args(self, *args: P.args, **kwargs: P.kwargs) -> Arguments[P]:
        """These arguments, checked: for schedule_many(), and their payload for a job."""
        return self._prepared.args(*args, **kwargs)

    def key(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """The key of the unit that these arguments are about."""
        return self._prepared.key(*args, **kwargs)

    @overload
    def cancel(self, *args: P.args, **kwargs: P.kwargs) -> Cancelled: ...
    @overload
    def cancel(self: _Takes[*Ts], *args: *Ts, **options: Unpack[CancelOptions]) -> Cancelled: ...
    def cancel(self, *args: Any, **kwargs: Any) -> Cancelled:  # type: ignore[misc]  # (mypy and TypeVarTuple)
        """Cancel what is live of the unit that these arguments are about."""
        prepared, kwargs = self._split(kwargs)
        return prepared.cancel(*args, **kwargs)

    def find(self, *args: P.args, **kwargs: P.kwargs) -> "TaskInfo | None":
        """The current task of the unit that these arguments are about, or None if it never had one."""
        return self._prepared.find(*args, **kwargs)

    def _split(self, kwargs: dict[str, Any]) -> tuple[Prepared[Any], dict[str, Any]]:
        own = self._parameters.names
        options = {name: value for name, value in kwargs.items() if name in _ALL and name not in own}
        if not options:
            return self._prepared, kwargs
        return Prepared(self._parameters, options), {name: one for name, one in kwargs.items() if name not in options}

    def _mapping(self, one: object) -> dict[str, Any]:
        if not isinstance(one, Arguments) or one.task_type != self.name:
            raise InvalidTask(f"schedule_many of {self.name} takes what its args() gives, not {shown(one)}.")
        return one.as_mapping()


class _ByKey(_Named):
    """A handler that takes tasks: what it schedules is told by a key and a payload."""

    def schedule(self, key: Key, *, payload: object = None, **options: Unpack["_KeyOptions"]) -> Scheduled:
        """As django_punctual.schedule."""
        return scheduling.schedule(self.name, key, payload=payload, **options)

    def schedule_many(self, tasks: Iterable[Mapping[str, object]], **common: object) -> list[Scheduled]:
        """As django_punctual.schedule_many."""
        return scheduling.schedule_many(self.name, tasks, **common)

    def reschedule(
        self,
        key: Key,
        *,
        at: datetime | None = None,
        delay: timedelta | float | None = None,
        payload: object = None,
        tenant: str | None = None,
    ) -> Scheduled:
        """As django_punctual.reschedule."""
        return scheduling.reschedule(self.name, key, at=at, delay=delay, payload=payload, tenant=tenant)

    def ensure(
        self,
        key: Key,
        *,
        at: datetime | None = None,
        delay: timedelta | float | None = None,
        payload: object = None,
        tenant: str | None = None,
    ) -> Scheduled:
        """As django_punctual.ensure."""
        return scheduling.ensure(self.name, key, at=at, delay=delay, payload=payload, tenant=tenant)

    def cancel(self, key: Key, *, reason: str = "", by: str = SYSTEM, tenant: str | None = None) -> Cancelled:
        """As django_punctual.cancel."""
        return scheduling.cancel(self.name, key, reason=reason, by=by, tenant=tenant)

    def find(self, key: Key, *, tenant: str | None = None) -> "TaskInfo | None":
        """As django_punctual.find."""
        return _find(self.name, key, tenant=tenant)


class _KeyOptions(TypedDict, total=False):
    at: datetime | None
    delay: timedelta | float | None
    lane: str | None
    max_retry: int | None
    repeat_after: timedelta | float | None
    expires_after: timedelta | float | None
    idem_key: str | None
    tenant: str | None


class TaskHandler(_ByKey, Generic[R_co]):
    """A handler that takes the task alone."""

    def __call__(self, task: Task) -> R_co:
        return cast(R_co, self._call(task))


class BatchHandler(_ByKey, Generic[R_co]):
    """A handler that takes all tasks of a batch."""

    def __call__(self, tasks: list[Task]) -> R_co:
        return cast(R_co, self._call(tasks))


AnyHandler = TypedHandler[..., ..., Any] | TaskHandler[Any] | BatchHandler[Any]


class Declare(Protocol):
    """What handler(...) gives: the decorator. The kind of handler follows from what the function takes."""

    @overload
    def __call__(self, call: Callable[[Task], R], /) -> TaskHandler[R]: ...
    @overload
    def __call__(self, call: Callable[[list[Task]], R], /) -> BatchHandler[R]: ...
    @overload
    def __call__(  # type: ignore[overload-cannot-match]
        self, call: Callable[Concatenate[Task, P], R], /
    ) -> TypedHandler[Concatenate[Task, P], P, R]: ...
    @overload
    def __call__(self, call: Callable[P, R], /) -> TypedHandler[P, P, R]: ...


def handler(name: str, **options: Unpack[HandlerOptions]) -> Declare:
    """Declare the decorated function as the handler of task type `name`."""
    declare_call = registry.handler(name, **options, depth=2)

    def declare(call: Any) -> Any:
        call = call._call if isinstance(call, _Named) else call  # one function may do several types
        declare_call(call)
        return declared(REGISTRY.require(name), call)

    return declare


def declared(handler: Handler, call: Callable[..., Any]) -> AnyHandler:
    """The handler as its app uses it."""
    if handler.parameters is not None:
        return TypedHandler(handler.name, call, handler.parameters)
    return (BatchHandler if handler.batch else TaskHandler)(handler.name, call)
