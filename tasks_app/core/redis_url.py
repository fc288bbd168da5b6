"""Where Redis is: at one address, or wherever its sentinels say that the master is."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

SENTINEL = "sentinel://"
SCHEMES = ("redis://", "rediss://", "unix://", SENTINEL)
EXAMPLE = "sentinel://:password@host1:26379,host2:26379,host3:26379/mymaster/0"
PORT = 26379


class Sentinels(NamedTuple):
    """`sentinel://user:password@host:port,host:port/master/db`; the password is that of Redis and of its sentinels."""

    addresses: list[tuple[str, int]]
    master: str
    db: int
    username: str | None
    password: str | None

    @classmethod
    def of(cls, url: str) -> "Sentinels":
        """Raises ValueError for one that can't be read."""
        # Not by urlsplit, which takes an address in brackets after another one for a mistake.
        network, _, path = url.removeprefix(SENTINEL).partition("/")
        login, _, servers = network.rpartition("@")
        user, _, password = login.partition(":")
        master, _, db = path.strip("/").partition("/")
        addresses = [_address(one) for one in servers.split(",")]
        if not master or "?" in url or "#" in url:
            raise ValueError("it names no master")
        return cls(addresses, unquote(master), int(db or 0), unquote(user) or None, unquote(password) or None)

    @property
    def secret(self) -> dict[str, str]:
        """What is asked for, as redis-py names it."""
        given = {"username": self.username, "password": self.password}
        return {name: value for name, value in given.items() if value}


def problems_of(url: str, name: str) -> Iterator[str]:
    """Only its beginning is shown: the rest may hold a password."""
    if not url.startswith(SCHEMES):
        scheme, found, _ = url.partition("://")
        yield (
            f"{name} begins with {(scheme + found)[:20]!r}; it must be redis://host:port/0, rediss://host:port/0, "
            f"unix:///path/to/socket or {EXAMPLE}."
        )
    elif url.startswith(SENTINEL):
        try:
            Sentinels.of(url)
        except ValueError:
            yield f"{name} begins with {SENTINEL}, and can't be read; it must be like {EXAMPLE}."


def _address(text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise ValueError("a sentinel has no host")
    return parts.hostname, parts.port or PORT
