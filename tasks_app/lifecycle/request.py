"""What a caller asks to be scheduled: checked in full before anything is written."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Model

from tasks_app.conf import conf
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.confidential import RESERVED, refuse_reserved
from tasks_app.core.errors import (
    EARLIEST,
    LONGEST_SECONDS,
    InvalidTask,
    latest_instant,
    refuse_absurd_instant,
    shown,
)
from tasks_app.core.handlers import REGISTRY, Handler, refuse_bad_lane, refuse_bad_max_retry, refuse_other_tenant
from tasks_app.core.parameters import Checked, Parameters
from tasks_app.core.tenants import DEFAULT_TENANT, TENANT_LENGTH
from tasks_app.core.text import control_in
from tasks_app.libraries.python import ENCODER, json_parts
from tasks_app.models.schedule_task import KEY_LENGTH

from .rows import Row, row_key
from .tenant_defaults import lane_of

DEEPEST = 201  # lists and objects in one another; what writes our answers gives up at 255
_MAY_BE_DEEPER = 2 * DEEPEST  # bytes: each level takes two, so most payloads need no closer look
_ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
BY_LENGTH = 150
OF_ITS_OWN = frozenset({"key", "at", "payload"})  # what tasks that are scheduled together mostly differ in

Unit = tuple[str, str, str]  # tenant, task type, business key
Key = str | int | UUID | Row
KEPT = object()  # the payload of a plan for another time: that of the task that is there


class Request(NamedTuple):
    unit: Unit
    at: datetime | None
    delay: float | None
    payload: str | None  # JSON text; None: none given
    lane: str
    max_retry: int
    repeat_after: float | None
    expires_after: float | None
    idem_key: str | None


def build(
    task_type: str,
    key: Key,
    *,
    at: datetime | None = None,
    delay: timedelta | float | None = None,
    payload: object = None,
    lane: str | None = None,
    max_retry: int | None = None,
    repeat_after: timedelta | float | None = None,
    expires_after: timedelta | float | None = None,
    idem_key: str | None = None,
    tenant: str | None = None,
) -> Request:
    handler = REGISTRY.require(task_type)
    owner = REGISTRY.tenant_of(task_type, tenant)
    refuse_other_tenant(handler, owner)
    if lane is not None:
        refuse_bad_lane(lane, InvalidTask)
    if max_retry is not None:
        refuse_bad_max_retry(max_retry, InvalidTask)
    if at is not None and delay is not None:
        raise InvalidTask(f"at={at!r} and delay={delay!r} were both given; give the one you mean.")
    if repeat_after is not None and expires_after is not None:
        raise InvalidTask(
            "repeat_after and expires_after exclude each other: a rolling task that is late runs late, and "
            "expiring it would end it for good. Drop expires_after."
        )
    fitting = payload if handler.parameters is None else _fitting(handler.parameters, payload)
    if task_type == HTTP_CALLBACK:
        from .callbacks import refuse_bad_callback  # what calls addresses; most processes schedule none

        refuse_bad_callback(owner, fitting)
    return Request(
        unit=(
            owner if owner is DEFAULT_TENANT else checked_name("tenant", owner, TENANT_LENGTH),
            task_type,
            new_key(key),
        ),
        at=None if at is None else checked_instant("at", at),
        delay=_seconds("delay", delay, allow_zero=True) if at is None else None,
        payload=_json_text(fitting),
        lane=lane or lane_of(handler, owner),
        max_retry=handler.max_retry if max_retry is None else max_retry,
        repeat_after=None if repeat_after is None else _seconds("repeat_after", repeat_after),
        expires_after=None if expires_after is None else _seconds("expires_after", expires_after),
        idem_key=None if idem_key is None else checked_name("idem_key", idem_key, KEY_LENGTH),
    )


def like_it(like: Request, fields: Set[str]) -> Callable[[Mapping[str, Any]], Request] | None:
    """A short cut for many that differ from one that was built in nothing but these fields, all of which they have, and
    whose time is not None; None if there is no short cut."""
    tenant, task_type, _ = like.unit
    if not fields <= OF_ITS_OWN or task_type == HTTP_CALLBACK:
        return None
    timed, loaded = "at" in fields, "payload" in fields
    parameters = REGISTRY.require(task_type).parameters
    _, at, delay, payload, lane, max_retry, repeat_after, expires_after, idem_key = like
    latest = latest_instant()

    def one_like_it(one: Mapping[str, Any]) -> Request:
        key = one["key"]
        # The usual cases first, each in one look: what is no such case is told what is wrong with it, if anything is.
        if type(key) is not str or not 0 < len(key) <= KEY_LENGTH or not key.isprintable():
            key = new_key(key)
        moment, text = at, payload
        if timed:
            moment = one["at"]
            if type(moment) is not datetime or moment.tzinfo is not UTC or not EARLIEST <= moment <= latest:
                moment = checked_instant("at", moment)
        if loaded:
            given = one["payload"]
            text = _json_text(given if parameters is None else _fitting(parameters, given))
        return Request(
            (tenant, task_type, key), moment, delay, text, lane, max_retry, repeat_after, expires_after, idem_key
        )

    return one_like_it


def checked_name(name: str, value: object, longest: int) -> str:
    """What people read in one line, in lists, logs and terminals: no control characters."""
    text = _text(name, value, longest)
    if (found := control_in(text)) is not None:
        raise InvalidTask(f"{name} {text[:200]!r} contains the control character {found!r}. Remove it.")
    return text


def checked_by(by: object) -> str:
    """Who asked for it; may be empty."""
    return "" if by == "" else checked_name("by", by, BY_LENGTH)


def checked_reason(name: str, value: object, longest: int) -> str:
    """What people read in some lines; no control characters but breaks of lines and tabs."""
    text = _text(name, value, longest)
    if (found := control_in(text, lines=True)) is not None:
        raise InvalidTask(f"{name} {text[:200]!r} contains the control character {found!r}. Remove it.")
    return text


def checked_text(name: str, value: object, longest: int) -> str:
    """A text that PostgreSQL can store, not empty and not too long; whatever else is in it, pages escape."""
    return _text(name, value, longest)


def checked_instant(name: str, at: object) -> datetime:
    """An aware datetime that is not surely a mistake."""
    if not isinstance(at, datetime):
        raise InvalidTask(f"{name}={shown(at)} is a {type(at).__name__}; it must be an aware datetime.")
    if at.tzinfo is None or at.utcoffset() is None:
        raise InvalidTask(
            f"{name}={at!r} is naive, so it is unclear which instant it means. Give it a time zone, "
            f"for example {name}=datetime(2027, 3, 1, 9, 0, tzinfo=ZoneInfo('Europe/Berlin'))."
        )
    refuse_absurd_instant(name, at)
    return at


def checked_seconds(name: str, value: object) -> float:
    """A length of time of more than nothing, in seconds."""
    seconds = _seconds(name, value)
    if seconds is None:
        raise InvalidTask(f"{name} is missing; it must be a timedelta or a number of seconds.")
    return seconds


def fitting_payload(handler: Handler, payload: object) -> object:
    """The payload as a typed handler takes it, or the one given; InvalidTask if it doesn't fit."""
    return payload if handler.parameters is None else _fitting(handler.parameters, payload)


def checked_json(name: str, value: object) -> str:
    """The value as JSON text that PostgreSQL can store."""
    return _json_text(value, name) or "null"


def unit_of(task_type: str, key: Key, tenant: str | None = None) -> Unit:
    """Without a tenant, that of the type."""
    return _text("tenant", REGISTRY.tenant_of(task_type, tenant), TENANT_LENGTH), task_type, key_of(key)


def new_key(key: Key) -> str:
    """The key of what is written now. Older rows may have others, and are found by key_of."""
    if type(key) is str and 0 < len(key) <= KEY_LENGTH and key.isprintable():
        return key  # nearly all are such
    text = key_of(key)
    return text if text.isprintable() else checked_name("key", text, KEY_LENGTH)


def key_of(key: Key) -> str:
    if isinstance(key, UUID) or (isinstance(key, int) and not isinstance(key, bool) and abs(key) < 10**KEY_LENGTH):
        key = str(key)
    elif not isinstance(key, str) and isinstance(key, Model):
        key = row_key(key)
    return _text("key", key, KEY_LENGTH)


def is_deeper(value: object, most: int) -> bool:
    """Whether lists and objects lie in one another on more levels than that. Walks level by level: no recursion."""
    level: list[Any] = [value]
    for _ in range(most + 1):
        level = [one for one in level if isinstance(one, dict | list | tuple)]
        if not level:
            return False
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return True


def _text(name: str, value: object, longest: int) -> str:
    if not isinstance(value, str):
        raise InvalidTask(f"{name}={shown(value)} is a {type(value).__name__}; it must be a string.")
    if not value:
        raise InvalidTask(f"{name} is empty; it must have 1 to {longest} characters.")
    if len(value) > longest:
        way_out = "Use a hash of it." if name.endswith("key") else "Shorten it."
        raise InvalidTask(
            f"{name} {value[:40]!r}… has {len(value):,} characters; at most {longest:,} are allowed. {way_out}"
        )
    if "\0" in value:
        raise InvalidTask(f"{name} {value!r} contains a NUL character, which PostgreSQL can't store. Remove it.")
    if not _encodable(value):
        raise InvalidTask(f"{name} {value!r} contains half of a surrogate pair; it is not valid text. Remove it.")
    return value


def _seconds(name: str, value: object, *, allow_zero: bool = False) -> float | None:
    if value is None:
        return 0.0 if allow_zero else None
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidTask(f"{name}={shown(value)} must be a timedelta or a number of seconds.")
    # Written so that a NaN, for which every comparison is false, is refused as well.
    if not 0 <= value <= LONGEST_SECONDS or (value == 0 and not allow_zero):
        least = "zero or more" if allow_zero else "more than zero"
        raise InvalidTask(f"{name}={shown(value)} must be {least} seconds and at most a hundred years.")
    return float(value)


def _fitting(parameters: Parameters, payload: object) -> object:
    if payload is KEPT:
        return None
    if type(payload) is Checked:
        return payload
    if payload is not None:
        return parameters.check(payload)
    try:
        return parameters.check({})
    except InvalidTask as error:
        raise InvalidTask(f"{error} Give it in payload.") from None


def _json_text(payload: object, name: str = "payload") -> str | None:
    if payload is None or payload is KEPT:
        return None
    refuse_reserved(name, payload)
    try:
        text = _encode(payload)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidTask(
            f"{name} can't be written as JSON: {error}. Use dicts, lists, strings, numbers, booleans and None, "
            "and ids instead of objects."
        ) from None
    if not _encodable(text):
        raise InvalidTask(f"{name} contains half of a surrogate pair; it is not valid text. Remove it.")
    size, limit = len(text) if text.isascii() else len(text.encode()), conf().PAYLOAD_MAX_BYTES
    if size > limit:
        raise InvalidTask(
            f"{name} has {size:,} bytes as JSON; at most {limit:,} are allowed. "
            "Keep the data in a table of your own and schedule its id."
        )
    if "\\u0000" in text and _ESCAPED_NUL.search(text):
        raise InvalidTask(f"{name} contains a NUL character, which PostgreSQL can't store. Remove it.")
    if size > _MAY_BE_DEEPER and text.count("[") + text.count("{") > DEEPEST and is_deeper(payload, DEEPEST):
        raise InvalidTask(
            f"{name} has lists or objects more than {DEEPEST} levels deep. Keep such data in a table of your own "
            "and schedule its id."
        )
    return text


def json_texts(payloads: Sequence[object]) -> list[bytes]:
    """Many payloads as JSON text, encoded, none of which is None: together looked through for what few have, and one by
    one if one of them has it."""
    with suppress(TypeError, ValueError, RecursionError):
        texts = ["".join(json_parts(payload, 0)).encode() for payload in payloads]
        whole = b"".join(texts)
        ordinary = RESERVED.encode() not in whole and b"\\u0000" not in whole
        if ordinary and max(map(len, texts)) <= conf().PAYLOAD_MAX_BYTES:
            long = [text for text in texts if len(text) > _MAY_BE_DEEPER]
            if all(text.count(b"[") + text.count(b"{") <= DEEPEST for text in long):
                return texts
    return [(_json_text(payload) or "{}").encode() for payload in payloads]


def _encode(payload: object) -> str:
    try:
        return "".join(json_parts(payload, 0))
    except (TypeError, ValueError, RecursionError):
        return ENCODER.encode(payload)  # says what is wrong, also of what contains itself


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
