"""Sends again what may be sent again: reads, and writes that carry an Idempotency-Key, which are done once at most."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

import anyio
import httpx

from .errors import ApiError

PASSING_STATUSES = frozenset({429, 502, 503, 504})
PASSING_CODES = frozenset({"SCH_409_IN_PROGRESS", "SCH_409_CONFLICT"})
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
FIRST_WAIT_SECONDS = 0.2


@dataclass(frozen=True)
class Patience:
    tries: int = 4  # the first one counts
    longest_wait: float = 10.0  # seconds; a server that asks for more gets no second try

    def after_failure(self, request: httpx.Request, error: httpx.TransportError, tries: int) -> float | None:
        """How long to wait before it is sent again; None: it isn't."""
        if tries >= self.tries or not (isinstance(error, NOT_SENT) or _may_be_repeated(request)):
            return None
        return self._wait(tries)

    def after_refusal(self, request: httpx.Request, refusal: ApiError, tries: int) -> float | None:
        passing = refusal.status in PASSING_STATUSES or refusal.code in PASSING_CODES
        if tries >= self.tries or not passing or not _may_be_repeated(request):
            return None
        if refusal.retry_after is None:
            return self._wait(tries)
        return refusal.retry_after if refusal.retry_after <= self.longest_wait else None

    def _wait(self, tries: int) -> float:
        # Spread out, so that those who failed together don't come back together.
        return min(self.longest_wait, FIRST_WAIT_SECONDS * 2.0 ** (tries - 1)) * random.uniform(0.5, 1)


class Http(httpx.Client):
    """httpx's client, which sends again and raises what is no success."""

    def __init__(self, patience: Patience, **options: Any) -> None:
        super().__init__(**options)
        self._patience = patience

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        tries = 0
        while True:
            tries += 1
            try:
                response = super().send(request, **options)
            except httpx.TransportError as error:
                wait = self._patience.after_failure(request, error, tries)
                if wait is None:
                    raise
            else:
                if response.is_success:
                    return response
                refusal = ApiError.of(response)
                wait = self._patience.after_refusal(request, refusal, tries)
                if wait is None:
                    raise refusal
            time.sleep(wait)


class AsyncHttp(httpx.AsyncClient):
    def __init__(self, patience: Patience, **options: Any) -> None:
        super().__init__(**options)
        self._patience = patience

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        tries = 0
        while True:
            tries += 1
            try:
                response = await super().send(request, **options)
            except httpx.TransportError as error:
                wait = self._patience.after_failure(request, error, tries)
                if wait is None:
                    raise
            else:
                if response.is_success:
                    return response
                refusal = ApiError.of(response)
                wait = self._patience.after_refusal(request, refusal, tries)
                if wait is None:
                    raise refusal
            await anyio.sleep(wait)


def _may_be_repeated(request: httpx.Request) -> bool:
    return request.method in ("GET", "HEAD") or "Idempotency-Key" in request.headers
