"""Which keys the stored secrets are sealed with, and how they come under a new one."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tasks_app.core.keyring import CannotUnseal, key_id_of
from tasks_app.lifecycle import named_secrets, signing_secrets
from tasks_app.lifecycle.alarms import channels
from tasks_app.models import AlarmChannel, Secret, Subscription
from tasks_app.models.base import OurModel
from tasks_app.sealing import keyring


class Place(NamedTuple):
    """A column that holds sealed secrets: one, or a list of them."""

    model: type[OurModel]
    column: str
    bound_to: Callable[[int], str]  # what those of a row are sealed to


PLACES = (
    Place(Subscription, "secrets", signing_secrets.bound_to),
    Place(AlarmChannel, "target", channels.bound_to),
    Place(Secret, "values", named_secrets.bound_to),
)


class Rotated(NamedTuple):
    rewrapped: int
    unopened: list[str]  # a sentence for each secret that no key opens


def keys_in_use() -> Counter[str]:
    """How many secrets are sealed with each key, by its id."""
    return Counter(key_id_of(text) for place in PLACES for _, stored in _rows(place) for text in _each(stored))


def rotate() -> Rotated:
    """Seal everything with the first key. Done twice, or by two at once, or beside somebody who changes a secret, it
    loses nothing: a row is written only if its secrets are still those that were read."""
    rewrapped, unopened = 0, []
    for place in PLACES:
        for row_id, stored in _rows(place):
            fresh = []
            for text in _each(stored):
                try:
                    fresh.append(keyring().rewrap(text, place.bound_to(row_id)))
                except CannotUnseal as error:
                    fresh.append(text)
                    unopened.append(f"{place.model._meta.db_table} {row_id}: {error}")
            changed = sum(new != old for new, old in zip(fresh, _each(stored), strict=True))
            if changed and _write(place, row_id, stored, fresh if isinstance(stored, list) else fresh[0]):
                rewrapped += changed
    return Rotated(rewrapped, unopened)


def _rows(place: Place) -> Iterator[tuple[int, list[str] | str]]:
    return place.model.objects.order_by("id").values_list("id", place.column).iterator()


def _write(place: Place, row_id: int, stored: list[str] | str, fresh: list[str] | str) -> int:
    same = place.model.objects.filter(id=row_id, **{place.column: stored})
    return same.update(**{place.column: fresh})


def _each(stored: list[str] | str) -> list[str]:
    return stored if isinstance(stored, list) else [stored]
