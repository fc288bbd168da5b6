"""A client of Punctual's REST API: typed, sync and async. docs/clients.md shows it at work."""

from __future__ import annotations

from typing import Any, Self

from .errors import ApiError
from .generated import models
from .generated.client import AuthenticatedClient
from .generated.models import *  # noqa: F403
from .generated.operations import AsyncOperations, Operations
from .generated.types import UNSET, Unset
from .retries import AsyncHttp, Http, Patience

__all__ = ["UNSET", "ApiError", "AsyncPunctual", "Patience", "Punctual", "Unset", *models.__all__]

API = "/api/v1"


class Punctual(Operations):
    """`url` is where Punctual is: https://punctual.example.com, or in a host https://shop.example.com/punctual.

    A call returns what was asked for; everything else is raised: ApiError for what was refused, httpx.TransportError
    when there is no answer. A write without an Idempotency-Key gets one, so that it can be sent again.
    `options` go to httpx, such as `verify` or `proxy`.
    """

    def __init__(
        self, url: str, token: str, *, timeout: float = 30.0, patience: Patience | None = None, **options: Any
    ) -> None:
        base = _base(url)
        self._http = Http(patience or Patience(), base_url=base, headers=_headers(token), timeout=timeout, **options)
        self.client = AuthenticatedClient(base, token=token).set_httpx_client(self._http)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncPunctual(AsyncOperations):
    """The same with `await`, on asyncio or Trio."""

    def __init__(
        self, url: str, token: str, *, timeout: float = 30.0, patience: Patience | None = None, **options: Any
    ) -> None:
        base = _base(url)
        self._http = AsyncHttp(
            patience or Patience(), base_url=base, headers=_headers(token), timeout=timeout, **options
        )
        self.client = AuthenticatedClient(base, token=token).set_async_httpx_client(self._http)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _base(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError(
            f"The address of Punctual is {url!r}; it must begin with https:// or http://, such as "
            "'https://punctual.example.com'."
        )
    return url.rstrip("/").removesuffix(API) + API


def _headers(token: str) -> dict[str, str]:
    if not token.isascii() or not token.isprintable() or not token.strip():
        # Not the token itself: messages end up in logs.
        raise ValueError("The token is empty or has characters that no token has; it looks like pnc_….")
    return {"Authorization": f"Bearer {token.strip()}", "User-Agent": "punctual-client"}
