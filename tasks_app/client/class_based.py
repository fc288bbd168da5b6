"""Handlers as classes: the options are attributes, the work is the method `run`."""

import builtins
import difflib
import functools
import inspect
from collections.abc import Iterable
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVarTuple, Unpack, cast, overload

from tasks_app.core import handlers as registry
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import REGISTRY, HandlerOptions
from tasks_app.core.task import Task
from tasks_app.lifecycle.cancel import Cancelled
from tasks_app.lifecycle.decisions import Scheduled
from tasks_app.lifecycle.view import TaskInfo

from .declared import AllOptions, Arguments, CancelOptions, MoveOptions, Options, Prepared, TypedHandler

P = ParamSpec("P")
Ts = TypeVarTuple("Ts")
_OPTIONS = tuple(HandlerOptions.__annotations__)


class _Runs(Protocol[P]):
    def run(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...


class _RunsThese(Protocol[*Ts]):
    def run(self, *args: *Ts) -> Any: ...


class BaseHandler:
    """A handler as a class. A subclass with a `type` is declared; one without is for others to inherit from.

    Each run has an object of its own, with the task as `self.task`. `run` takes typed parameters, plain or async; a
    method `apply(self, answer)` writes what `run` answered, inside the transaction that settles the task.
    """

    type: ClassVar[str]
    declared: ClassVar[TypedHandler[..., ..., Any]]
    task: Task

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "type" in cls.__dict__:
            cls.declared = _declared(cls)

    @classmethod
    def options(cls: "builtins.type[_Runs[P]]", **options: Unpack[AllOptions]) -> Prepared[P]:
        """As TypedHandler.options."""
        return cast(Prepared[P], _of(cls).options(**options))

    @overload
    @classmethod
    def schedule(cls: "builtins.type[_Runs[P]]", *args: P.args, **kwargs: P.kwargs) -> Scheduled: ...
    @overload
    @classmethod
    def schedule(cls: "builtins.type[_RunsThese[*Ts]]", *args: *Ts, **options: Unpack[Options]) -> Scheduled: ...
    @classmethod  # type: ignore[misc]  # (mypy and TypeVarTuple)
    def schedule(cls: Any, *args: Any, **kwargs: Any) -> Scheduled:
        """As TypedHandler.schedule."""
        return _of(cls).schedule(*args, **kwargs)

    @overload
    @classmethod
    def reschedule(cls: "builtins.type[_Runs[P]]", *args: P.args, **kwargs: P.kwargs) -> Scheduled: ...
    @overload
    @classmethod
    def reschedule(cls: "builtins.type[_RunsThese[*Ts]]", *args: *Ts, **options: Unpack[MoveOptions]) -> Scheduled: ...
    @classmethod  # type: ignore[misc]  # (mypy and TypeVarTuple)
    def reschedule(cls: Any, *args: Any, **kwargs: Any) -> Scheduled:
        """As TypedHandler.reschedule."""
        return _of(cls).reschedule(*args, **kwargs)

    @overload
    @classmethod
    def ensure(cls: "builtins.type[_Runs[P]]", *args: P.args, **kwargs: P.kwargs) -> Scheduled: ...
    @overload
    @classmethod
    def ensure(cls: "builtins.type[_RunsThese[*Ts]]", *args: *Ts, **options: Unpack[MoveOptions]) -> Scheduled: ...
    @classmethod  # type: ignore[misc]  # (mypy and TypeVarTuple)
    def ensure(cls: Any, *args: Any, **kwargs: Any) -> Scheduled:
        """As TypedHandler.ensure."""
        return _of(cls).ensure(*args, **kwargs)

    @overload
    @classmethod
    def cancel(cls: "builtins.type[_Runs[P]]", *args: P.args, **kwargs: P.kwargs) -> Cancelled: ...
    @overload
    @classmethod
    def cancel(cls: "builtins.type[_RunsThese[*Ts]]", *args: *Ts, **options: Unpack[CancelOptions]) -> Cancelled: ...
    @classmethod  # type: ignore[misc]  # (mypy and TypeVarTuple)
    def cancel(cls: Any, *args: Any, **kwargs: Any) -> Cancelled:
        """As TypedHandler.cancel."""
        return _of(cls).cancel(*args, **kwargs)

    @classmethod
    def schedule_many(
        cls: "builtins.type[_Runs[P]]", tasks: Iterable[Arguments[P]], **common: Unpack[Options]
    ) -> list[Scheduled]:
        """As TypedHandler.schedule_many."""
        return _of(cls).schedule_many(tasks, **common)

    @classmethod
    def args(cls: "builtins.type[_Runs[P]]", *args: P.args, **kwargs: P.kwargs) -> Arguments[P]:
        """As TypedHandler.args."""
        return cast(Arguments[P], _of(cls).args(*args, **kwargs))

    @classmethod
    def key(cls: "builtins.type[_Runs[P]]", *args: P.args, **kwargs: P.kwargs) -> str:
        """As TypedHandler.key."""
        return _of(cls).key(*args, **kwargs)

    @classmethod
    def find(cls: "builtins.type[_Runs[P]]", *args: P.args, **kwargs: P.kwargs) -> TaskInfo | None:
        """As TypedHandler.find."""
        return _of(cls).find(*args, **kwargs)


_INHERITED = {name for name in vars(BaseHandler) if not name.startswith("_")}


def _of(cls: Any) -> TypedHandler[..., ..., Any]:
    if "type" not in cls.__dict__:
        raise InvalidConfiguration(
            f"{cls.__qualname__} has no type of its own, so it is not a handler. Give it one: type = 'MAIL_SEND'."
        )
    return cast(TypedHandler[..., ..., Any], cls.declared)


def _declared(cls: Any) -> TypedHandler[..., ..., Any]:
    where = f"handler class {cls.__module__}.{cls.__qualname__}"
    run = getattr(cls, "run", None)
    if not inspect.isfunction(run):
        raise InvalidConfiguration(f"{where} has no method run(self, ...), so there is nothing to do. Write one.")
    _refuse_misspelt(cls, where)
    options = {name: getattr(cls, name) for name in _OPTIONS if name not in _INHERITED and hasattr(cls, name)}
    if "key" in cls.__dict__:
        raise InvalidConfiguration(
            f"{where}: key is a method of handler classes. Name what makes up the key in key_by."
        )
    if hasattr(cls, "key_by"):
        options["key"] = cls.key_by
    if options.get("batch"):
        raise InvalidConfiguration(f"{where}: batch=True makes one call for many tasks. Use a function for that.")
    if inspect.isfunction(options.get("apply")):
        options["apply"] = _apply(cls)
    call = _runner(cls, run)
    registry.handler(cls.type, **options, typed=True)(call)
    parameters = REGISTRY.require(cls.type).parameters
    assert parameters is not None
    return TypedHandler(cls.type, call, parameters)


def _runner(cls: Any, run: Any) -> Any:
    """A function that takes the task and what `run` takes, makes an object for it and runs that."""
    [_, *taken] = inspect.signature(run, follow_wrapped=False).parameters.values()

    def new(task: Task) -> Any:
        one = cls()
        one.task = task
        return one

    async def call_async(task: Task, /, *args: Any, **kwargs: Any) -> Any:
        return await new(task).run(*args, **kwargs)

    def call_plain(task: Task, /, *args: Any, **kwargs: Any) -> Any:
        return new(task).run(*args, **kwargs)

    call: Any = call_async if inspect.iscoroutinefunction(run) else call_plain
    first = inspect.Parameter("_task", inspect.Parameter.POSITIONAL_ONLY, annotation=Task)
    functools.update_wrapper(call, run)
    call.__signature__ = inspect.Signature([first, *taken])
    call.__annotations__ = {**run.__annotations__, "_task": Task}
    return call


def _apply(cls: Any) -> Any:
    def apply(task: Task, answer: Any) -> Any:
        one = cls()
        one.task = task
        return one.apply(answer)

    return apply


def _refuse_misspelt(cls: Any, where: str) -> None:
    """An attribute that looks like an option is one: else a time-out would be silently the default."""
    known = {*_OPTIONS, "type", "key_by"}
    for name, value in vars(cls).items():
        if name.startswith("_") or name in known or callable(value) or isinstance(value, property | classmethod):
            continue
        meant = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
        if meant:
            raise InvalidConfiguration(
                f"{where}: {name} is not an option. Did you mean {meant[0]!r}? If not, rename it."
            )
