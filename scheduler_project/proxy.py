"""Owns the question of who is at the other end: what a proxy of ours says of its client, else the connection itself."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Sequence

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from tasks_app.core.networks import Network, contains, plain

log = logging.getLogger(__name__)


def proxy_middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """From here on REMOTE_ADDR is the client's. Nobody but our proxies says who it is, or that it speaks TLS."""
    trusted = [ipaddress.ip_network(each) for each in settings.TRUSTED_PROXIES]
    told: set[str] = set()

    def respond(request: HttpRequest) -> HttpResponse:
        peer = request.META["REMOTE_ADDR"] = plain(request.META.get("REMOTE_ADDR", ""))
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
        if is_trusted(peer, trusted):
            request.META["REMOTE_ADDR"] = client_of(forwarded, peer, trusted)
        elif settings.ONLY_TRUSTED_PROXIES:
            request.META.pop("HTTP_X_FORWARDED_PROTO", None)
        elif forwarded and not told:
            told.add(peer)
            log.warning(
                "proxy.untrusted peer=%s: it names clients, but TRUSTED_PROXIES does not name it, so all of them count "
                "as one. Set TRUSTED_PROXIES if it is your proxy.",
                peer,
            )
        return get_response(request)

    return respond


def is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    if not address:
        return True  # a unix socket has none, and its file says who may connect
    return contains(trusted, address)


def client_of(forwarded: str, peer: str, trusted: Sequence[Network]) -> str:
    """The last one that no proxy of ours stands for. What is to its left, anybody may have written."""
    client = peer
    for address in (text.strip() for text in reversed(forwarded.split(","))):
        try:
            client = plain(str(ipaddress.ip_address(address)))
        except ValueError:
            break
        if not is_trusted(client, trusted):
            break
    return client
