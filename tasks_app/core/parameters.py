"""What a typed handler takes: its signature, compiled once, from arguments to a payload and back.

A handler that takes the task and nothing else has none of this, and costs nothing more.
"""

import inspect
import json
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

from asgiref.sync import sync_to_async

from .calls import function_in, signature_of, words_for
from .errors import InvalidConfiguration, InvalidTask, UnrecoverableError, nearest, shown
from .payloads import (
    MADE_ANEW,
    REQUIRED,
    Field,
    Kind,
    Schema,
    Unfit,
    Unstorable,
    dump_fields,
    is_object,
    json_default,
    kind_of,
    load_fields,
    object_schema,
    whole_schema,
)
from .task import Task

BAD_PAYLOAD = "BAD_PAYLOAD"
ONLY_KEY = "-"  # of a handler without parameters: it has one unit
_LONGEST_KEY = 200
_HASHED = "sha256:"


class Checked(dict[str, Any]):
    """A payload that fits its handler: nobody has to look at it again."""


@dataclass(frozen=True)
class Parameters:
    """The parameters of one handler that make up its payload."""

    handler: str
    names: tuple[str, ...]  # in the order of the signature, without the task
    positional: int  # how many of them may be given by position
    keyword_only: frozenset[str]
    positional_only: frozenset[str]
    fields: Mapping[str, Field]  # what the payload has: the parameters, or the fields of the only one
    whole: Kind | None  # the only parameter is a dataclass or model: the payload is that object itself
    takes_task: bool
    required: bool  # some of the fields have no default
    key: tuple[str, ...] = ()  # the fields that make up the key of the unit; none: all that are not at their default
    fetches: bool = False

    def dump(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Checked:
        """Arguments of a call as a payload, each checked."""
        given = dict(zip(self.names, args, strict=False))
        if len(args) > self.positional:
            raise InvalidTask(
                f"handler {self.handler!r} takes {self.positional} arguments by position "
                f"({', '.join(self.names[: self.positional]) or 'none'}), but {len(args)} were given."
            )
        for name, value in kwargs.items():
            if name in given or name in self.positional_only:
                why = "is given twice" if name in given else "can be given by position only"
                raise InvalidTask(f"handler {self.handler!r}: {name}={shown(value)} {why}.")
            given[name] = value
        if self.whole is None:
            return self.check(given)
        [only] = self.names
        unknown = next((name for name in given if name != only), None)
        if unknown is not None or not given:
            raise InvalidTask(f"handler {self.handler!r} takes one argument, {only}; got {', '.join(given) or 'none'}.")
        return self.check(given[only])

    def check(self, payload: Any) -> Checked:
        """A payload as it is stored, each value checked: of Python values, or of what they look like as JSON."""
        try:
            if self.whole is not None:
                return Checked(self.whole.dump(payload))
            if not isinstance(payload, Mapping):
                raise Unfit("must be an object with the handler's parameters", payload, "payload")
            return Checked(dump_fields(self.fields, payload, f"handler {self.handler!r}"))
        except Unfit as error:
            raise InvalidTask(f"handler {self.handler!r}: {_sentence(_named(error))}{self._way_out()}") from None

    def part(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Some of the fields, as they are stored."""
        made = {}
        for name, value in given.items():
            if name not in self.fields:
                raise InvalidTask(
                    f"handler {self.handler!r} has no parameter {name!r}.{nearest(name, self.fields)}{self._way_out()}"
                )
            try:
                field = self.fields[name]
                made[name] = None if value is None and field.default is None else field.kind.dump(value)
            except Unfit as error:
                raise InvalidTask(f"handler {self.handler!r}: {_sentence(error.inside(name))}") from None
        return made

    def load(self, payload: Any) -> tuple[list[Any], dict[str, Any]]:
        """The arguments to call the handler with. What no longer fits is final: no retry would make it fit."""
        try:
            if self.whole is not None:
                made = {self.names[0]: self.whole.load(payload)}
            elif isinstance(payload, Mapping):
                made = load_fields(self.fields, payload)
            else:
                raise Unfit("must be an object with the handler's parameters", payload, "payload")
        except Unfit as error:
            raise UnrecoverableError(
                f"the payload doesn't fit handler {self.handler!r}: {_sentence(_named(error))} It was scheduled with "
                f"other parameters than the handler has now.{self._way_out()}",
                code=BAD_PAYLOAD,
            ) from None
        args = []
        for name in self.names:
            if name not in made or name in self.keyword_only:
                break
            args.append(made.pop(name))
        return args, made

    def schema(self) -> Schema:
        """The JSON schema of a payload. What keeps to it is taken, unless a class of the handler's own refuses it."""
        if self.whole is not None:
            return whole_schema(self.whole.schema)
        return whole_schema(lambda definitions: object_schema(self.fields, definitions))

    def key_of(self, payload: Mapping[str, Any]) -> str:
        """The key of the unit that these arguments are about."""
        if not self.fields:
            return ONLY_KEY
        given = self._defaults | {name: self._canonical(name, value) for name, value in payload.items()}
        names = self.key or [name for name in payload if given[name] != self._defaults[name]]
        parts = {name: given[name] for name in self.fields if name in names and given[name] is not MADE_ANEW}
        if self.key and any(value is REQUIRED for value in parts.values()):
            raise InvalidTask(f"handler {self.handler!r}: {', '.join(self.key)} must be given: it is the unit's key.")
        if not parts:
            return ONLY_KEY
        [(first, value), *more] = parts.items()
        if not more and (self.key or first == next(iter(self.fields))):
            text = self._bare(first, value)
            if text:
                return text
        text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"), default=str)
        if len(text) <= _LONGEST_KEY and text.isprintable():
            return text
        return _HASHED + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        return {name: self._canonical(name, field.default) for name, field in self.fields.items()}

    def _canonical(self, name: str, value: Any) -> Any:
        """Equal arguments are one unit, however they are written."""
        canonical = self.fields[name].kind.canonical
        if value is None or value is REQUIRED or value is MADE_ANEW:
            return value
        return _in_order(value) if canonical is None else canonical(value)

    def _bare(self, name: str, value: Any) -> str:
        """The value itself, if it is no longer than a key and can't be taken for the key of other arguments."""
        spelled = self.fields[name].kind.key_of
        if spelled is not None:
            value = None if value is None else spelled(value)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or len(value) > _LONGEST_KEY or not value.isprintable():
            return ""
        return "" if value == ONLY_KEY or value.startswith(("{", _HASHED)) else value

    def _way_out(self) -> str:
        return f" It takes {', '.join(self.names) or 'nothing'}."


def _in_order(value: Any) -> Any:
    """JSON as it is compared: the entries of an object have no order, and 5.0 is 5."""
    if isinstance(value, dict):
        return {name: _in_order(value[name]) for name in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_in_order(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _named(error: Unfit) -> str:
    return str(error) if error.path else str(error.inside("payload"))


def _sentence(error: object) -> str:
    """With a full stop, unless it ends in one, or in a question such as 'Did you mean …?'."""
    text = str(error)
    return text if text.endswith((".", "?")) else f"{text}."


def parameters_of(name: str, call: Any, key: str | Sequence[str] | None, *, typed: bool = False) -> Parameters | None:
    """What a typed handler takes; None for one that takes the task alone, unless it is `typed` all the same."""
    signature = signature_of(call)
    if signature is None:
        return None
    own = list(signature.parameters.values())
    if _takes_anything(own):
        return _of_decorated(name, call, key)
    hints = _hints(name, call, own)
    if not typed and ((own and not hints) or _is_the_task_alone(own, hints)):
        return None
    return _compiled(name, call, own, hints, key)


def typed_call(call: Callable[..., Any], parameters: Parameters, *, awaited: bool) -> Callable[..., Any]:
    """The handler as the worker calls it: with the task."""
    load, takes_task = parameters.load, parameters.takes_task
    if not awaited:

        def run(task: Task) -> Any:
            args, kwargs = load(task.payload)
            return call(task, *args, **kwargs) if takes_task else call(*args, **kwargs)

        return run

    load_rows = sync_to_async(load) if parameters.fetches else None

    async def run_async(task: Task) -> Any:
        args, kwargs = load(task.payload) if load_rows is None else await load_rows(task.payload)
        return await (call(task, *args, **kwargs) if takes_task else call(*args, **kwargs))

    return run_async


def _takes_anything(own: list[inspect.Parameter]) -> bool:
    """The signature of a usual decorator, which says nothing."""
    return {one.kind for one in own} == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def _of_decorated(name: str, call: Any, key: str | Sequence[str] | None) -> Parameters | None:
    """A decorator that passes on what it gets is as typed as what it wraps; one that adds arguments takes the task."""
    inner = inspect.unwrap(call)
    signature = signature_of(inner)
    if inner is call or signature is None or _takes_anything(own := list(signature.parameters.values())):
        return None
    try:
        hints = _hints(name, inner, own)
        if (own and not hints) or _is_the_task_alone(own, hints):
            return None
        return _compiled(name, inner, own, hints, key)
    except InvalidConfiguration:
        if own and own[0].annotation in (Task, "Task"):
            return None
        raise


def _is_the_task_alone(own: list[inspect.Parameter], hints: Mapping[str, Any]) -> bool:
    """One that says nothing about its first argument, or that it is the task, and needs no other."""
    if not own or own[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        return False
    first = hints.get(own[0].name, inspect.Parameter.empty)
    if own[0].kind is inspect.Parameter.VAR_POSITIONAL:
        return first in (inspect.Parameter.empty, Any, object) or first is Task
    if first is inspect.Parameter.empty:
        return not any(one.name in hints for one in own[1:])
    if first in (Any, object):
        return len(own) == 1
    # With nothing but untyped defaults after it, as in `def call(task: Task, retries=3)`.
    return first is Task and not any(one.name in hints for one in own[1:])


def _hints(name: str, call: Any, own: list[inspect.Parameter]) -> dict[str, Any]:
    """The types of its parameters, those written as strings looked up: a Task may be somebody else's."""
    written = {one.name: one.annotation for one in own if one.annotation is not inspect.Parameter.empty}
    if not any(isinstance(annotation, str) or typing.get_args(annotation) for annotation in written.values()):
        return written
    space = getattr(inspect.unwrap(function_in(call)), "__globals__", {})
    try:
        # Only of the parameters: what it returns may be known to type checkers alone.
        return typing.get_type_hints(SimpleNamespace(__annotations__=written), space, include_extras=True)
    except NameError as error:
        if len(written) == 1 and own[0].annotation in ("Task", "client.Task"):
            return {own[0].name: Task}
        raise InvalidConfiguration(
            f"handler {name!r}: {words_for(call)} has a type that isn't there at run time: {error}. "
            "Import it outside of TYPE_CHECKING."
        ) from None


def _compiled(
    name: str, call: Any, own: list[inspect.Parameter], hints: Mapping[str, Any], key: str | Sequence[str] | None
) -> Parameters:
    takes_task = bool(own) and hints.get(own[0].name) is Task
    taken = own[1:] if takes_task else own
    kinds: dict[str, Field] = {}
    for one in taken:
        where = f"handler {name!r}: parameter {one.name!r} of {words_for(call)}"
        if one.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise InvalidConfiguration(f"{where} takes any number of arguments; name each of them, or take a list.")
        if one.name not in hints:
            raise InvalidConfiguration(
                f"{where} has no type, so nobody can tell what to store for it. Give it one, such as {one.name}: int; "
                "or take the task alone."
            )
        if hints[one.name] is Task:
            raise InvalidConfiguration(f"{where} is the task; a function has it first, a class as self.task.")
        kinds[one.name] = _field(where, one, hints[one.name])
    only = next(iter(kinds.values())).kind if len(kinds) == 1 else None
    whole = only if only is not None and is_object(only) and taken[0].default is inspect.Parameter.empty else None
    fields = kinds if whole is None else whole.fields or {}
    positional = [one for one in taken if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    return Parameters(
        handler=name,
        names=tuple(kinds),
        positional=len(positional),
        keyword_only=frozenset(one.name for one in taken if one not in positional),
        positional_only=frozenset(one.name for one in taken if one.kind is inspect.Parameter.POSITIONAL_ONLY),
        fields=fields,
        whole=whole,
        takes_task=takes_task,
        required=any(one.default is REQUIRED for one in fields.values()),
        key=_key_names(name, key, fields),
        fetches=any(one.kind.fetches for one in kinds.values()),
    )


def _field(where: str, one: inspect.Parameter, annotation: Any) -> Field:
    try:
        kind = kind_of(annotation)
    except Unstorable as error:
        raise InvalidConfiguration(f"{where}: {_sentence(error)}") from None
    if one.default is inspect.Parameter.empty:
        return Field(kind)
    try:
        return Field(kind, json_default(kind, one.default))
    except Unfit as error:
        raise InvalidConfiguration(f"{where}: the default of {_sentence(error.inside(one.name))}") from None


def _key_names(name: str, key: str | Sequence[str] | None, fields: Mapping[str, Field]) -> tuple[str, ...]:
    if key is None:
        return ()
    names = (key,) if isinstance(key, str) else tuple(key)
    for one in names:
        if one not in fields:
            raise InvalidConfiguration(
                f"handler {name!r}: key={key!r}: it has no parameter {one!r}.{nearest(str(one), fields)} "
                f"It takes {', '.join(fields) or 'nothing'}."
            )
    if not names:
        raise InvalidConfiguration(f"handler {name!r}: key=() names no parameter. Leave it out for all of them.")
    return names
