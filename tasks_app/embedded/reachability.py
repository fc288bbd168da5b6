"""Owns the check that servers we didn't start answer, and the sentence when they don't."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

if TYPE_CHECKING:
    import redis

TIMEOUT_SECONDS = 5


class Unreachable(Exception):
    """A given URL leads to nothing usable; the text is the one sentence for it, without any password."""


def check_database(url: str) -> None:
    """Return when the PostgreSQL of this URL answers a query."""
    parts = _split(url, "DATABASE_URL", ("postgresql", "postgres"), "postgresql://user:password@host:5432/name")
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=TIMEOUT_SECONDS) as connection:
            connection.execute("SELECT 1")
    except psycopg.Error as error:
        raise Unreachable(
            f"DATABASE_URL points to {_describe(parts)}, which can't be used{_reason(error, url)}. Start "
            "that server, correct the URL, or unset DATABASE_URL to use the embedded PostgreSQL."
        ) from error


def check_redis(url: str) -> None:
    """Return when the Redis or Valkey of this URL answers a PING."""
    parts = _split(url, "REDIS_URL", ("redis", "rediss", "unix", "sentinel"), "redis://:password@host:6379/0")
    import redis

    try:
        timeouts = {"socket_connect_timeout": TIMEOUT_SECONDS, "socket_timeout": TIMEOUT_SECONDS}
        with _by_sentinels(parts, timeouts) or redis.Redis.from_url(url, retry=None, **timeouts) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        raise Unreachable(
            f"REDIS_URL points to {_describe(parts)}, which can't be used{_reason(error, url)}. Start that "
            "server, correct the URL, or unset REDIS_URL to use the embedded Valkey."
        ) from error


def _by_sentinels(parts: SplitResult, timeouts: dict[str, int]) -> redis.Redis | None:
    """The master, if the URL names sentinels."""
    if parts.scheme != "sentinel":
        return None
    from redis.sentinel import Sentinel

    login, _, servers = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    found = [SplitResult("", server, "", "", "") for server in servers.split(",")]
    master, _, number = parts.path.strip("/").partition("/")
    secret = {"username": unquote(user) or None, "password": unquote(password) or None}
    asked = Sentinel([(one.hostname, one.port or 26379) for one in found], sentinel_kwargs=timeouts | secret)
    server: redis.Redis = asked.master_for(unquote(master), db=int(number or 0), **timeouts, **secret)
    return server


def _split(url: str, variable: str, schemes: tuple[str, ...], example: str) -> SplitResult:
    """Take the URL apart, refusing one whose password would be taken for something else, and printed."""
    with suppress(ValueError):
        parts = urlsplit(url)
        # A port that is no number, which raises, and an @ behind its place both mean that a character of the
        # password cut the URL in the wrong spot.
        behind = parts.netloc.partition("@")[2] + parts.path + parts.query + parts.fragment
        cut = 0 in _ports(parts) or "@" in behind
        if parts.scheme in schemes and not (parts.netloc and cut):
            return parts
    raise Unreachable(
        f"{variable} isn't a usable URL. It must look like {example}, with every special character of the "
        "password written as %XX ('@' is %40, '/' is %2F)."
    )


def _ports(parts: SplitResult) -> list[int | None]:
    """Of each server: a URL of libpq may name several."""
    servers = parts.netloc.rpartition("@")[2].split(",")
    return [SplitResult("", server, "", "", "").port for server in servers]


def _describe(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _reason(error: Exception, url: str) -> str:
    """What the server or the client library said, in one line, unless it quotes any piece of a secret."""
    said = re.sub(r"\s+", " ", str(error)).strip().rstrip(".")
    users = re.findall(r"://[^:/@]*+:([^@]*+)(@?)", url)  # without an @ it is a port
    secrets = [secret for secret, at in users if at] + re.findall(r"password=([^&]*)", url)
    pieces = [piece for secret in secrets for piece in re.split(r"\W+", unquote(secret)) if piece]
    if not said or any(piece in said for piece in pieces):
        return ""
    return f": {said}"
