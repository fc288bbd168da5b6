"""Typed handlers, for the tests of them: not in a module named `handlers`, so only who imports it has them."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pydantic import BaseModel

from django_punctual import BaseHandler, RetryableError, Task, handler
from tasks_app.core.handlers import REGISTRY
from tests.support.testapp.models import Counter

SEEN: list[object] = []  # what the handlers were called with


@dataclass
class Parcel:
    order: int
    weight: Decimal
    at: datetime | None = None


class Letter(BaseModel):
    to: str
    copies: int = 1


@handler("TYPED_SEND", backoff=[60])
def send(order_id: int, at_most: Decimal = Decimal("10")) -> str:
    SEEN.append((order_id, at_most))
    if order_id < 0:
        raise RetryableError("a negative order")
    return f"sent {order_id}"


@handler("TYPED_BOTH", key="order_id", timeout=5)
def both(task: Task, order_id: int, *, loud: bool = False) -> None:
    SEEN.append((task.key, task.attempt, order_id, loud))


@handler("TYPED_PARCEL", key="order", transactional=True)
def ship(parcel: Parcel) -> None:
    SEEN.append(parcel)


@handler("TYPED_LETTER")
async def post(letter: Letter) -> None:
    SEEN.append(letter)


@handler("TYPED_OPEN", api=True)
def opened(order_id: int) -> None: ...


@handler("TYPED_NOTHING")
def sweep() -> None:
    SEEN.append("swept")


@handler("TYPED_COUNT")
def count(counter: Counter) -> None:
    SEEN.append(counter)


@handler("TYPED_COUNT_ASYNC")
async def count_async(counter: Counter | None, by: int = 1) -> None:
    SEEN.append((counter, by))


@handler("TYPED_AT")
def remind(at: datetime, key: str) -> None:
    SEEN.append((at, key))


@handler("TYPED_TASK")
def plain(task: Task) -> None:
    SEEN.append(task.payload)


def _keep(task: Task, answer: int) -> None:
    SEEN.append((task.key, answer))


@handler("TYPED_APPLY", apply=_keep)
def double(number: int) -> int:
    return 2 * number


class Counted(BaseHandler):
    """Not declared itself: it has no type."""

    backoff = [60]

    def seen(self, *what: object) -> None:
        SEEN.append((self.task.type, self.task.key, *what))


class Mail(Counted):
    type = "TYPED_MAIL"
    timeout = 7
    lane = "high"
    key_by = "to"

    def run(self, to: str, copies: int = 1) -> None:
        self.seen(to, copies)


class Weigh(Counted):
    type = "TYPED_WEIGH"

    async def run(self, parcel: Parcel) -> Decimal:
        return parcel.weight * 2

    def apply(self, answer: Decimal) -> None:
        self.seen(answer)


class Tick(Counted):
    type = "TYPED_TICK"

    def run(self) -> None:
        self.seen()


DECLARED = [one for one in REGISTRY if one.name.startswith("TYPED_")]
