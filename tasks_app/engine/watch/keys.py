"""The keys of tenants as people see them, never the keys themselves; and whether they open here. Reads only."""

from collections.abc import Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from tasks_app.core.keyring import key_id_of
from tasks_app.lifecycle.key_walk import PLACES
from tasks_app.models import KeyWalk, TenantKey
from tasks_app.sealing import keyring
from tasks_app.sql import run

SHOWN = 1_000


class KeyView(NamedTuple):
    number: int
    tenant: str
    state: str  # encrypts, opens or destroyed
    master: str | None  # the installation's key that it is sealed with; None: it was destroyed
    reachable: bool  # this process has that key
    created_at: datetime
    created_by: str
    destroyed_at: datetime | None
    destroyed_by: str

    @property
    def words(self) -> str:
        made = f"Key {self.number}, made {self.created_at:%Y-%m-%d %H:%M} UTC by {self.created_by}"
        if self.destroyed_at is not None:
            return f"{made}: destroyed {self.destroyed_at:%Y-%m-%d %H:%M} UTC by {self.destroyed_by}."
        here = "" if self.reachable else ", which is missing here: it can't be opened"
        does = "encrypts what is written now" if self.state == "encrypts" else "opens what was written before"
        return f"{made}: {does}. Sealed with {self.master}{here}."


class WalkView(NamedTuple):
    row: KeyWalk

    @property
    def running(self) -> bool:
        running: bool = self.row.state != KeyWalk.DONE
        return running

    @property
    def words(self) -> str:
        row = self.row
        if row.state == KeyWalk.DONE:
            return f"All that is stored is under the newest keys: {row.changed:,} rows were written.{self._unreadable}"
        share = f", {min(1.0, row.after / row.until):.0%} of them" if row.until else ""
        stopped = " It was stopped." if row.state == KeyWalk.STOPPED else ""
        again = f" Round {row.rounds + 1}, since some tasks were in use." if row.rounds else ""
        return (
            f"What is stored is being brought under the newest keys, at {PLACES[row.place]}{share}; {row.changed:,} "
            f"rows were written so far.{again}{stopped}{self._unreadable}"
        )

    @property
    def _unreadable(self) -> str:
        return f" {self.row.unreadable:,} rows can't be opened by any key." if self.row.unreadable else ""


class KeyStatus(NamedTuple):
    """What the verdict goes by."""

    missing: tuple[str, ...] = ()  # of the installation's keys, those that are in use and not here
    lacking: tuple[tuple[str, str], ...] = ()  # beats and workers, each with such a key that it does not have
    old: tuple[str, ...] = ()  # that are in use, and would not seal anything new


def keys_of(tenant: str | None = None) -> list[KeyView]:
    """Of one tenant, or of all, up to SHOWN; the newest last."""
    rows = TenantKey.objects.order_by("tenant", "id")
    return [_view(row) for row in (rows if tenant is None else rows.filter(tenant=tenant))[:SHOWN]]


def walk_view() -> WalkView | None:
    row = KeyWalk.objects.first()
    return None if row is None else WalkView(row)


def read_keys(elsewhere: Mapping[str, Collection[str]] = MappingProxyType({})) -> KeyStatus:
    """`elsewhere`: the keys that other processes have, by their names."""
    in_use = [master for (master,) in run("key_masters", {})]
    return KeyStatus(
        tuple(master for master in in_use if master not in keyring()),
        tuple((name, master) for name, keys in elsewhere.items() for master in in_use if master not in keys),
        tuple(master for master in in_use if master != keyring().first_id),
    )


def _view(row: TenantKey) -> KeyView:
    gone = row.destroyed_at is not None
    master = None if gone else key_id_of(row.sealed)
    return KeyView(
        row.id,
        row.tenant,
        "destroyed" if gone else "encrypts" if row.encrypts else "opens",
        master,
        master is not None and master in keyring(),
        row.created_at,
        row.created_by,
        row.destroyed_at,
        row.destroyed_by,
    )
