"""Which keys the stored secrets are sealed with, and how they come under a new one."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tasks_app.core.keyring import CannotUnseal, key_id_of
from tasks_app.lifecycle.signing_secrets import bound_to
from tasks_app.models import Subscription
from tasks_app.sealing import keyring


class Rotated(NamedTuple):
    rewrapped: int
    unopened: list[str]  # a sentence for each secret that no key opens


def keys_in_use() -> Counter[str]:
    """How many secrets are sealed with each key, by its id."""
    return Counter(key_id_of(text) for _, sealed in _stored() for text in sealed)


def rotate() -> Rotated:
    """Seal everything with the first key. Done twice, or by two at once, or beside somebody who changes a secret, it
    loses nothing: a row is written only if its secrets are still those that were read."""
    rewrapped, unopened = 0, []
    for subscription, sealed in _stored():
        fresh = []
        for text in sealed:
            try:
                fresh.append(keyring().rewrap(text, bound_to(subscription.id)))
            except CannotUnseal as error:
                fresh.append(text)
                unopened.append(f"subscription {subscription}: {error}")
        if fresh != sealed and Subscription.objects.filter(pk=subscription.pk, secrets=sealed).update(secrets=fresh):
            rewrapped += sum(new != old for new, old in zip(fresh, sealed, strict=True))
    return Rotated(rewrapped, unopened)


def _stored() -> Iterator[tuple[Subscription, list[str]]]:
    for subscription in Subscription.objects.exclude(secrets=[]).only("id", "name", "tenant", "secrets").iterator():
        yield subscription, subscription.secrets
