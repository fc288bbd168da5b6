"""Which keys the stored secrets are sealed with, and how they come under a new one."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tasks_app.core.keyring import CannotUnseal, key_id_of
from tasks_app.lifecycle.alarms.channels import bound_to as channel_bound_to
from tasks_app.lifecycle.signing_secrets import bound_to
from tasks_app.models import AlarmChannel, Subscription
from tasks_app.sealing import keyring


class Rotated(NamedTuple):
    rewrapped: int
    unopened: list[str]  # a sentence for each secret that no key opens


def keys_in_use() -> Counter[str]:
    """How many secrets are sealed with each key, by its id."""
    of_subscriptions = Counter(key_id_of(text) for _, sealed in _stored() for text in sealed)
    return of_subscriptions + Counter(key_id_of(channel.target) for channel in _channels())


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
    for channel in _channels():
        try:
            fresh = keyring().rewrap(channel.target, channel_bound_to(channel.id))
        except CannotUnseal as error:
            unopened.append(f"alarm channel {channel}: {error}")
            continue
        known = AlarmChannel.objects.filter(pk=channel.pk, target=channel.target)
        if fresh != channel.target and known.update(target=fresh):
            rewrapped += 1
    return Rotated(rewrapped, unopened)


def _channels() -> Iterator[AlarmChannel]:
    return AlarmChannel.objects.only("id", "name", "target").iterator()


def _stored() -> Iterator[tuple[Subscription, list[str]]]:
    for subscription in Subscription.objects.exclude(secrets=[]).only("id", "name", "tenant", "secrets").iterator():
        yield subscription, subscription.secrets
