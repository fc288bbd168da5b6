"""An address to call, taken apart strictly: what two programs could read in two ways is refused."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from .errors import InvalidTask

LONGEST_URL = 2_000
PORTS = {"http": 80, "https": 443}

Address = IPv4Address | IPv6Address

_URL = re.compile(r"(https?)://([^/?]*)(/?[^?]*(?:\?.*)?)", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


class Refused(InvalidTask):
    """The installation doesn't call this address; the sentence says why, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Receiver:
    scheme: str
    host: str  # in lower case; an IPv6 address has no brackets
    port: int
    path: str  # with its query
    address: Address | None  # if the host is an address itself

    @property
    def authority(self) -> str:
        """The header Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        """Without its path, which may hold a secret."""
        return f"{self.scheme}://{self.authority}"


def receiver_of(url: str) -> Receiver:
    """Raises Refused with a sentence."""
    if not isinstance(url, str) or not url:
        raise Refused("There is no address to call. Give one, such as https://hooks.example.com/punctual.")
    if len(url) > LONGEST_URL:
        raise Refused(f"The address has {len(url):,} characters; it may have {LONGEST_URL:,}.")
    _refuse_characters(url)
    found = _URL.fullmatch(url)
    if found is None:
        raise Refused(f"The address begins with {url[:20]!r}; it must begin with https:// or http://.")
    scheme, authority, path = found[1].lower(), found[2], found[3]
    if "@" in authority:
        raise Refused("The address has a user name or a password in it. Leave them out: what is sent is signed.")
    host, port = _host_and_port(authority, PORTS[scheme])
    return Receiver(scheme, host, port, path if path.startswith("/") else f"/{path}", literal(host))


def _refuse_characters(url: str) -> None:
    wrong = next((one for one in url if not "!" <= one <= "~" or one in '\\"<>^`{|}#'), None)
    if wrong is None:
        return
    if wrong == "#":
        raise Refused("The address has a '#'; what follows it is never sent. Leave it out.")
    if not wrong.isascii() and (instead := _in_ascii(url)):
        raise Refused(f"The host has {wrong!r}, which is not ASCII. Write it as {instead!r}.")
    raise Refused(f"The address has {wrong!r}, which must be percent-encoded in an address, or left out.")


def _in_ascii(url: str) -> str:
    """How a host that is not in ASCII is written; '' if it can't be, or if it isn't the host."""
    host = re.sub(r"(?i)^https?://", "", url).partition("/")[0].partition(":")[0]
    if host.isascii():
        return ""
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return ""


def _host_and_port(authority: str, usual: int) -> tuple[str, int]:
    found = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]{0,5}))?", authority)
    if found is None:
        raise Refused(f"{authority[:100]!r} is not a host and a port, such as hooks.example.com:8443.")
    host, port = found[1].lower(), int(found[2]) if found[2] else usual
    if not 0 < port < 65_536:
        raise Refused(f"The port {port} does not exist; ports are 1 to 65535.")
    if host.startswith("["):
        try:
            return str(IPv6Address(host[1:-1] if "%" not in host else "")), port
        except ValueError:
            raise Refused(f"{host[:100]!r} is not an IPv6 address, such as [2001:db8::1].") from None
    return checked_host(host), port


def checked_host(host: str) -> str:
    """The name, without the dot at its end, or the IPv4 address; both in the only way to write them."""
    name = host.removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise Refused(f"{host[:100]!r} is not the name of a host, such as hooks.example.com.")
    if _NUMBER.fullmatch(labels[-1]):
        # 127.1, 0x7f.1 and 2130706433 are 127.0.0.1 to some programs, and names to others.
        try:
            return str(IPv4Address(name))
        except ValueError:
            raise Refused(f"{host[:100]!r} is not an IPv4 address; one has four numbers, as in 203.0.113.7.") from None
    return name


def literal(host: str) -> Address | None:
    try:
        return IPv6Address(host) if ":" in host else IPv4Address(host)
    except ValueError:
        return None
