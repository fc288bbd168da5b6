"""The shards that this beat dispatches: taken, renewed, shared and handed over, all in PostgreSQL.

Leases spread the work. That a task runs once is up to the claim: two beats that both think they hold a shard do no
harm.
"""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from uuid import UUID

from tasks_app.conf import conf
from tasks_app.core.installation import FORGET_STANDBY_SECONDS
from tasks_app.lifecycle.claim import return_unstarted
from tasks_app.lifecycle.stalls import SKIPPED, release_changed
from tasks_app.models import ShardLease
from tasks_app.sql import run

log = logging.getLogger(__name__)

# After a foreign lease has run out, its shards are looked at this much later.
_AFTER_EXPIRY_SECONDS = 0.02


class _Look(NamedTuple):
    """A row of hold_shards: a shard that this beat holds now; or one row without a shard if it holds none."""

    shards: int  # that there are
    next_expiry: float | None  # of another beat's lease, in seconds
    shard: int | None
    fence: int | None
    found: str | None  # how it was found: one of ShardLease's words
    giver: str | None  # the node that shares it with us
    holder_name: str | None  # before
    stalls: list[Any] | None  # what beats hung on


class Leases:
    def __init__(self, node_id: UUID, name: str, tell: Callable[[Iterable[str]], None]) -> None:
        self._node_id = node_id
        self._name = name
        self._tell = tell  # other beats, by their node ids, that they should look at their leases now
        self._declared = False
        self._silent: set[str] = set()  # beats whose lease ran out: their unstarted batches go back
        self._fences: dict[int, int] = {}
        self._until = 0.0  # monotonic: held no longer than this without a renewal
        self._next = 0.0  # monotonic: when to run again
        self.total = 0  # shards there are

    @property
    def held(self) -> dict[int, int]:
        """The shards of this beat with their fencing numbers; none after its lease ran out, whoever has them now."""
        return self._fences if time.monotonic() < self._until else {}

    @property
    def wait_seconds(self) -> float:
        """How long until they have to be looked at."""
        return max(0.0, self._next - time.monotonic())

    def look_now(self) -> None:
        """Somebody took or left shards."""
        self._next = 0.0

    def run_once(self) -> dict[int, int]:
        """Renew, take and share, and give a sign of life; returns what is held now. What is missing was lost: it is
        contended for again."""
        if not self._declared:
            run("declare_shards", {"shards": conf().SHARDS})
            self._declared = True
        ttl, asked = conf().SHARD_LEASE_SECONDS, time.monotonic()
        asked_for = {"node_id": self._node_id, "name": self._name, "site": conf().site, "ttl": ttl}
        asked_for |= {"dispatching": True, "figures": None, "forget": FORGET_STANDBY_SECONDS}
        seen = [_Look(*row) for row in run("hold_shards", asked_for)]
        held = [look for look in seen if look.shard is not None]
        SKIPPED.learn(seen[0].stalls)
        if SKIPPED:
            release_changed()
        before, self.total, next_expiry = self._fences, seen[0].shards, seen[0].next_expiry
        self._fences = {look.shard: look.fence for look in seen if look.shard is not None and look.fence is not None}
        self._until = asked + ttl
        # At a third: two lost renewals still leave time. Earlier if somebody else's lease is about to run out.
        soon = ttl if next_expiry is None else max(next_expiry, 0.0) + _AFTER_EXPIRY_SECONDS
        self._next = asked + min(ttl / 3, soon)
        self._log_changes(before, held)
        self._tell({look.giver for look in held if look.giver is not None})
        self._silent |= {look.holder_name for look in held if look.holder_name and look.found == ShardLease.EXPIRED}
        self._return_unstarted()
        return self._fences

    def release(self) -> None:
        """Hand all of them over, at once."""
        self._fences, self._until, self._next = {}, 0.0, 0.0
        others = run("release_shards", {"node_id": self._node_id, "ttl": conf().SHARD_LEASE_SECONDS})
        # One of them takes all that is free; it is told first, and the others take their share of it.
        self._tell([node_id for (node_id,) in others])

    def _return_unstarted(self) -> None:
        """A beat that died may have claimed what it could not publish any more: nobody should wait for that."""
        if not self._silent:
            return
        tasks = return_unstarted(self._silent)
        if tasks:
            log.info("batch.orphaned name=%s of=%s tasks_returned=%d", self._name, sorted(self._silent), tasks)
        self._silent.clear()

    def _log_changes(self, before: dict[int, int], held: list[_Look]) -> None:
        lost = sorted(before.keys() - self._fences.keys())
        if lost:
            log.info("shard.lost name=%s shards=%s", self._name, lost)
        taken: dict[tuple[str | None, str | None], list[int]] = {}
        for look in held:
            if look.shard is not None and look.found != "OWN":
                taken.setdefault((look.found, look.holder_name), []).append(look.shard)
        for (found, holder_name), shards in taken.items():
            log.info("shard.taken name=%s shards=%s how=%s from=%s", self._name, sorted(shards), found, holder_name)
