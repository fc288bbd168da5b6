"""Where this installation may call: PUNCTUAL["OUTGOING_ALLOW"], and what a public address is."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_network

from .errors import InvalidConfiguration, shown
from .receivers import Address, Receiver, Refused, checked_host

PUBLIC = "public"
SETTING = 'PUNCTUAL["OUTGOING_ALLOW"]'
USUAL_PORTS = (80, 443)
FIRST_FREE_PORT = 1024  # below it only the usual ones, unless they are listed: nobody has a receiver on port 25

Network = IPv4Network | IPv6Network

_UNICAST = IPv6Network("2000::/3")  # all that is given out of IPv6 so far
_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = (
    IPv6Network("2001::/23"),  # Teredo, and what is reserved for protocols
    IPv6Network("3fff::/20"),  # for documentation
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
)


@dataclass(frozen=True, slots=True)
class AllowList:
    """What an operator has listed. Hashable, so that connections made under one list are never used under another."""

    public: bool
    hosts: frozenset[tuple[str, int | None]]
    beneath: tuple[str, ...]  # ".example.com" for *.example.com
    networks: tuple[tuple[Network, int | None], ...]

    def refuse_early(self, receiver: Receiver) -> None:
        """Refuse what can be refused without looking up its name."""
        if receiver.address is not None:
            self.refuse(receiver, [receiver.address])
        elif not self.networks and not self._trusts(receiver) and not self._knows(receiver.host):
            self._refuse_public(receiver)

    def refuse(self, receiver: Receiver, addresses: Iterable[Address]) -> None:
        """Refuse a receiver that leads to these addresses, unless each of them is allowed."""
        if self._trusts(receiver):
            return
        for address in addresses:
            plain = embedded(address)
            if any(plain.version == network.version and plain in network for network in self._networks_of(receiver)):
                continue
            if not is_public(address):
                raise Refused(_leads(receiver, plain))
            if not self._knows(receiver.host):
                self._refuse_public(receiver)

    def _trusts(self, receiver: Receiver) -> bool:
        return (receiver.host, None) in self.hosts or (receiver.host, receiver.port) in self.hosts

    def _knows(self, host: str) -> bool:
        return host.endswith(self.beneath) if self.beneath else False

    def _networks_of(self, receiver: Receiver) -> Iterator[Network]:
        return (network for network, port in self.networks if port in (None, receiver.port))

    def _refuse_public(self, receiver: Receiver) -> None:
        """Refuse what is listed nowhere, unless the public is allowed and this is a usual receiver."""
        if not self.public:
            raise Refused(f"{receiver} is not listed. {_way_out(receiver)}")
        if receiver.scheme != "https":
            raise Refused(f"{receiver} would be sent in the clear. Use https://; or {_way_out(receiver, 'an')}")
        if receiver.port not in USUAL_PORTS and receiver.port < FIRST_FREE_PORT:
            raise Refused(f"{receiver}: port {receiver.port} is not one that receivers have. {_way_out(receiver)}")


def allow_list(entries: Iterable[str]) -> AllowList:
    return _allow_list(tuple(entries))


@lru_cache(maxsize=8)
def _allow_list(entries: tuple[str, ...]) -> AllowList:
    if problems := list(problems_of(entries)):
        raise InvalidConfiguration("\n".join(problems))
    read = [_entry(entry) for entry in entries if entry != PUBLIC]
    return AllowList(
        public=PUBLIC in entries,
        hosts=frozenset((what, port) for what, port in read if isinstance(what, str) and what[0] != "."),
        beneath=tuple(what for what, _ in read if isinstance(what, str) and what[0] == "."),
        networks=tuple((what, port) for what, port in read if not isinstance(what, str)),
    )


def problems_of(entries: Iterable[object]) -> Iterator[str]:
    for entry in entries:
        try:
            _entry(entry)
        except ValueError:
            yield (
                f"{SETTING} has {shown(entry)}; an entry is 'public', a host such as 'hooks.example.com', a host with "
                "its port such as 'hooks.example.com:8443', all hosts beneath one such as '*.example.com', or an "
                "address or a network such as '10.1.0.0/16'."
            )


def _entry(entry: object) -> tuple[str | Network, int | None]:
    """What it names, and on which port; a name that begins with a dot stands for all beneath it."""
    if not isinstance(entry, str) or not entry.isascii():
        raise ValueError
    entry = entry.lower()
    if entry == PUBLIC:
        return PUBLIC, None
    if entry.startswith("*."):
        return "." + checked_host(entry[2:]), None
    try:
        return ip_network(entry), None
    except ValueError:
        pass
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:/]+)(?::([0-9]{1,5}))?", entry)
    if found is None or (found[2] and not 0 < int(found[2]) < 65_536):
        raise ValueError
    name, port = found[1].strip("[]"), int(found[2]) if found[2] else None
    try:
        return ip_network(ip_address(name)), port
    except ValueError:
        return checked_host(name), port


def embedded(address: Address) -> Address:
    """The IPv4 address that a mapped, NAT64 or 6to4 address stands for; otherwise the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address


def is_public(address: Address) -> bool:
    """Whether anybody on the Internet may have it: no address of this machine, of a network of ours or of many."""
    plain = embedded(address)
    if any(plain.version == network.version and plain in network for network in _NOT_PUBLIC):
        return False
    if plain.version == 6 and plain not in _UNICAST:
        return False
    return plain.is_global and not (plain.is_multicast or plain.is_reserved or plain.is_unspecified)


def _leads(receiver: Receiver, plain: Address) -> str:
    if receiver.address is None:
        # Which address it is, is none of the caller's business: it would tell what names mean inside.
        words = f"{receiver} leads to {_kind(plain)} address."
    else:
        words = f"{receiver} is {_kind(plain)} address."
    return f"{words} {_way_out(receiver)}"


def _kind(address: Address) -> str:
    for kind in ("loopback", "link_local", "multicast", "unspecified", "reserved", "private"):
        if getattr(address, f"is_{kind}"):
            return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind.replace('_', '-')}"
    return "a non-public"


def _way_out(receiver: Receiver, first: str = "An") -> str:
    host = f"[{receiver.host}]" if ":" in receiver.host else receiver.host
    return f"{first} operator who wants it called adds '{host}:{receiver.port}' to {SETTING}."
