"""Networks that a setting lists, and whether an address is in one of them."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from .errors import shown

Network = IPv4Network | IPv6Network


def parsed(texts: Iterable[str]) -> tuple[Network, ...]:
    return tuple(ip_network(text) for text in texts)


def problems_of(texts: Iterable[object], setting: str) -> Iterator[str]:
    for text in texts:
        try:
            if not isinstance(text, str):
                raise ValueError
            ip_network(text)
        except ValueError:
            yield (
                f"{setting} has {shown(text)}; it must have addresses and networks, such as '10.1.2.3' and "
                "'10.1.0.0/16', whose host bits are 0."
            )


def contains(networks: Iterable[Network], address: str) -> bool:
    """An address of version 4 that came over a socket of version 6 is what it is in version 4."""
    try:
        found = ip_address(plain(address))
    except ValueError:
        return False
    return any(found.version == network.version and found in network for network in networks)


def plain(address: str) -> str:
    """An IPv6 address that stands for an IPv4 one, as IPv4: 192.0.2.7 for ::ffff:192.0.2.7. Other text is unchanged."""
    try:
        mapped = getattr(ip_address(address), "ipv4_mapped", None)
    except ValueError:
        return address
    return str(mapped) if mapped else address
