"""Where events can go: what a caller gives, checked, and as it is stored in `Subscription.target`."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from .errors import InvalidTask, nearest, shown
from .receivers import receiver_of
from .subscribers import SUBSCRIBERS

# A key in Redis, or a queue; what reads well in a terminal, and needs no quoting.
_NAME = re.compile(r"[\w.:-]{1,100}", re.ASCII)
STREAM_MOST = 10_000_000
STREAM_USUAL = 100_000


def _checked_word(what: str, value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise InvalidTask(f"{what} is {shown(value)}; it must be 1 to 100 letters, digits and any of _ . : -.")
    return value


@dataclass(frozen=True, slots=True)
class ToFunction:
    """A Python function of an app, which `@subscriber(name)` has registered. The beats run it."""

    name: str

    sink: ClassVar[str] = "python"

    def check(self, brokers: Mapping[str, str]) -> None:
        if SUBSCRIBERS.find(self.name) is None:
            known = list(SUBSCRIBERS)
            raise InvalidTask(
                f"there is no subscriber {shown(self.name)} in this process.{nearest(str(self.name), known)} Register "
                "it with @subscriber in a module named `subscribers` of an installed app. "
                f"There are: {', '.join(known) or 'none'}."
            )


@dataclass(frozen=True, slots=True)
class ToStream:
    """A Redis stream, kept to about `maxlen` entries. Its key is PREFIX:stream:NAME."""

    stream: str
    maxlen: int = STREAM_USUAL
    broker: str = ""  # a name in PUNCTUAL["BROKERS"]; empty: the Redis of PUNCTUAL["REDIS_URL"]

    sink: ClassVar[str] = "stream"

    def check(self, brokers: Mapping[str, str]) -> None:
        _checked_word("stream", self.stream)
        if not isinstance(self.maxlen, int) or isinstance(self.maxlen, bool) or not 0 < self.maxlen <= STREAM_MOST:
            raise InvalidTask(f"maxlen is {shown(self.maxlen)}; it must be a whole number from 1 to {STREAM_MOST:,}.")
        if self.broker:
            url = _checked_broker(self.broker, brokers)
            if not url.startswith(("redis://", "rediss://", "unix://")):
                raise InvalidTask(
                    f'PUNCTUAL["BROKERS"][{self.broker!r}] is no Redis, and only Redis has streams. Use ToQueue for it.'
                )


@dataclass(frozen=True, slots=True)
class ToQueue:
    """A queue of a message broker that kombu can reach."""

    broker: str  # a name in PUNCTUAL["BROKERS"]
    queue: str

    sink: ClassVar[str] = "queue"

    def check(self, brokers: Mapping[str, str]) -> None:
        _checked_word("queue", self.queue)
        _checked_broker(self.broker, brokers)


@dataclass(frozen=True, slots=True)
class ToWebhook:
    """An address that events are posted to, signed."""

    url: str

    sink: ClassVar[str] = "webhook"

    def check(self, brokers: Mapping[str, str]) -> None:
        receiver_of(self.url)


Target = ToFunction | ToStream | ToQueue | ToWebhook
_KINDS: dict[str, type[Target]] = {kind.sink: kind for kind in (ToFunction, ToStream, ToQueue, ToWebhook)}


def _checked_broker(name: object, brokers: Mapping[str, str]) -> str:
    if not isinstance(name, str) or name not in brokers:
        raise InvalidTask(
            f'broker is {shown(name)}, which is not in PUNCTUAL["BROKERS"].{nearest(str(name), brokers)} Events go '
            f"only where the settings allow. There are: {', '.join(sorted(brokers)) or 'none'}."
        )
    return brokers[name]


def target_of(sink: object, given: object) -> Target:
    """A target from what an API call, a form or a row has: the kind, and its fields."""
    kind = _KINDS.get(sink) if isinstance(sink, str) else None
    if kind is None:
        raise InvalidTask(f"sink is {shown(sink)}; it must be one of {', '.join(_KINDS)}.")
    if not isinstance(given, Mapping):
        raise InvalidTask(f"target is {shown(given)}; it must be an object.")
    known = [one.name for one in fields(kind)]
    for name in given:
        if name not in known:
            raise InvalidTask(
                f"target has {shown(name)}, which a {sink} doesn't have.{nearest(str(name), known)} "
                f"It has: {', '.join(known)}."
            )
    try:
        return kind(**given)
    except TypeError:
        raise InvalidTask(f"the target of a {sink} needs {', '.join(known)}; {shown(dict(given))} was given.") from None


def as_stored(target: Target) -> dict[str, Any]:
    return asdict(target)
