"""The settings of the stock with their units and defaults, read from settings.STOCK and checked."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import ClassVar
from urllib.parse import urlsplit

from django_punctual import InvalidTask
from django_punctual.rolling import timer_from
from django_punctual.settings import Section, figure, reader

from .errors import InvalidStockSettings

CHECKS = "inventory_app"  # the tag of the system checks of these settings
EXAMPLE = '"0 2 * * MON Europe/Berlin"'
SHORTEST_WINDOW, LONGEST_WINDOW = 1.0, 3_650 * 86_400.0
LOWEST_RATE = 0.000_001
MOST = {
    "BATCH_MAX": 100_000,
    "RATE": 1_000_000,
    "BURST": 100_000,
    "CONCURRENCY": 256,
    "TIMEOUT_SECONDS": 86_400,
    "ANSWER_MAX_BYTES": 100_000_000,
    "RETRY_MAX_SECONDS": 3_650 * 86_400,
}


@dataclass(frozen=True)
class Conf(Section):
    SETTING: ClassVar[str] = "STOCK"
    ERROR: ClassVar[type[Exception]] = InvalidStockSettings

    STOCK_URL: str = ""  # of the stock system; the product's code is appended. Empty: there is none
    STOCK_TOKEN: str = ""  # sent as a bearer token
    WINDOW_SECONDS: float = 10 * 86_400.0  # every product again this long after it was last synced
    ROUND: str = ""  # the next sync waits for the next of these moments: a cron string and a time zone. Empty: for none
    BATCH_MAX: int = 1_000  # products in one batch, at most
    RATE: float = 100.0  # questions a second, at most, over all workers
    BURST: int = 50  # questions that may come at once after a pause
    CONCURRENCY: int = 32  # questions at the same time, in each worker process
    TIMEOUT_SECONDS: float = 5.0  # longest wait for an answer, connecting included
    ANSWER_MAX_BYTES: int = 65_536
    RETRY_MAX_SECONDS: float = 3_600.0  # a stock system that is away is asked again for a product this often at least

    def _problems(self) -> Iterator[str]:
        for field in fields(self):
            value, kind = getattr(self, field.name), type(field.default)
            if kind is str:
                if not isinstance(value, str):
                    yield f'STOCK["{field.name}"] is {value!r}; it must be a string.'
            elif not _is_number(value, kind) or not value > 0:
                what = "whole number" if kind is int else "number"
                yield f'STOCK["{field.name}"] is {value!r}; it must be a {what} of more than 0.'
        yield from self._out_of_range()

    @classmethod
    def _unknown(cls, name: str, value: object, known: set[str]) -> str:
        if name == "ROUND_SECONDS":
            return (
                f'STOCK["ROUND_SECONDS"] is {value!r}, but is no longer a setting: it knew neither an hour nor a zone. '
                f'Set STOCK["ROUND"] to a cron string and a zone, such as {EXAMPLE}; 86400 was "0 0 * * * UTC".'
            )
        return super()._unknown(name, value, known)

    def _out_of_range(self) -> Iterator[str]:
        if isinstance(self.STOCK_URL, str) and self.STOCK_URL and not _is_address(self.STOCK_URL):
            yield f"STOCK_URL is {self.STOCK_URL!r}; it must be http://host/path or https://host/path, and no more."
        if isinstance(self.STOCK_TOKEN, str) and not (self.STOCK_TOKEN.isascii() and self.STOCK_TOKEN.isprintable()):
            yield "STOCK_TOKEN has characters no HTTP header can have; it must be printable ASCII on one line."
        if _is_number(self.WINDOW_SECONDS, float) and not SHORTEST_WINDOW <= self.WINDOW_SECONDS <= LONGEST_WINDOW:
            yield f'STOCK["WINDOW_SECONDS"] is {figure(self.WINDOW_SECONDS)}; it must be from a second to ten years.'
        if _is_number(self.RATE, float) and 0 < self.RATE < LOWEST_RATE:
            least = f"{figure(LOWEST_RATE)} or more: one question in 12 days"
            yield f'STOCK["RATE"] is {figure(self.RATE)}; it must be {least}.'
        for name, most in MOST.items():
            value = getattr(self, name)
            if _is_number(value, float) and value > most:
                yield f'STOCK["{name}"] is {figure(value)}; it must be at most {most:,}.'
        if isinstance(self.ROUND, str):
            try:
                timer_from(self.ROUND)
            except InvalidTask as error:
                yield f'STOCK["ROUND"] is {self.ROUND!r}: {error} Give a cron string and a zone, such as {EXAMPLE}.'


def _is_address(url: str) -> bool:
    """One that a question can be sent to as it is: what is left out of it, a user say, would be missed silently."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna")
        port = parts.port
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    known = parts.scheme in ("http", "https") and host and port != 0
    return bool(plain and known and not (parts.query or parts.fragment or "@" in parts.netloc))


def _is_number(value: object, kind: type) -> bool:
    return (
        not isinstance(value, bool)
        and isinstance(value, int if kind is int else int | float)
        and abs(value) < float("inf")
    )


from_settings = Conf.from_settings
conf = reader(Conf)
