"""Which keys the stored secrets are sealed with, and how they come under a new one."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tasks_app.core.confidential import Encrypted, as_text
from tasks_app.core.keyring import CannotUnseal, key_id_of
from tasks_app.lifecycle import data_keys, named_secrets, signing_secrets
from tasks_app.lifecycle.alarms import channels
from tasks_app.models import AlarmChannel, Secret, Subscription, TenantKey
from tasks_app.models.base import OurModel
from tasks_app.sealing import keyring


class Place(NamedTuple):
    """A column that holds sealed secrets: one, or a list of them."""

    model: type[OurModel]
    column: str
    bound_to: Callable[..., str]  # what those of a row are sealed to
    known_by: tuple[str, ...] = ("id",)  # the columns that it goes by


PLACES = (
    Place(Subscription, "secrets", signing_secrets.bound_to),
    Place(AlarmChannel, "target", channels.bound_to),
    Place(Secret, "values", named_secrets.bound_to),
    Place(TenantKey, "sealed", data_keys.bound_to, ("tenant", "id")),
)


class Rotated(NamedTuple):
    rewrapped: int
    unopened: list[str]  # a sentence for each secret that no key opens


def keys_in_use() -> Counter[str]:
    """How many secrets are sealed with each key, by its id."""
    return Counter(key_id_of(text) for place in PLACES for _, _, stored in _rows(place) for text in _ours(stored))


def rotate() -> Rotated:
    """Seal everything with the first key. Done twice, or by two at once, or beside somebody who changes a secret, it
    loses nothing: a row is written only if its secrets are still those that were read."""
    rewrapped, unopened = 0, []
    for place in PLACES:
        for row_id, known_by, stored in _rows(place):
            fresh = []
            for text in _each(stored):
                if not _is_ours(text):
                    fresh.append(text)
                    continue
                try:
                    fresh.append(keyring().rewrap(text, place.bound_to(*known_by)))
                except CannotUnseal as error:
                    fresh.append(text)
                    unopened.append(f"{place.model._meta.db_table} {row_id}: {error}")
            changed = sum(new != old for new, old in zip(fresh, _each(stored), strict=True))
            if changed and _write(place, row_id, stored, fresh if isinstance(stored, list) else fresh[0]):
                rewrapped += changed
    return Rotated(rewrapped, unopened)


def _rows(place: Place) -> Iterator[tuple[int, list[object], list[str] | str]]:
    """Each column asked for once, though a row may be known by its id: the first releases of Django 5.2 give back one
    value for a name that stands there twice."""
    rows = place.model.objects.order_by("id").values(*dict.fromkeys(("id", *place.known_by, place.column)))
    return ((row["id"], [row[name] for name in place.known_by], row[place.column]) for row in rows.iterator())


def _write(place: Place, row_id: int, stored: list[str] | str, fresh: list[str] | str) -> int:
    same = place.model.objects.filter(id=row_id, **{place.column: stored})
    written: int = same.update(**{place.column: fresh})
    return written


def _ours(stored: list[str] | str) -> list[str]:
    return [text for text in _each(stored) if _is_ours(text)]


def _is_ours(text: str) -> bool:
    """Sealed with the installation's key: neither a tenant's key that was destroyed, nor what such a key encrypts."""
    return bool(text) and not isinstance(as_text(text), Encrypted)


def _each(stored: list[str] | str) -> list[str]:
    return stored if isinstance(stored, list) else [stored]
