"""Who is next in a crowded lane: of the tenants with due tasks, those that have had least for their weight.

All in memory, and only as much of it as is needed: of a tenant that has few due tasks all of them, of one that has many
that it does. Tasks of such a one are read when it has fallen behind its share. Whatever is forgotten here is still due,
and is read again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import ceil, inf
from operator import itemgetter

from .tenants import USUAL_WEIGHT

LIGHT = 100  # due tasks, at most, of a tenant that need not wait behind others' batches
MOST = 40_000  # tasks that are kept of all tenants together, about
ROOM = 4_000  # that are kept of one that has many and is behind, about
AHEAD = 1.0  # full batches, at the usual weight: who has had so much more than the one with least is not behind
SPREAD = 2.0  # between who has had least and who has had most: from there on, order of due time is not fair
FORGET = 10_000  # accounts of tenants without due tasks, at most


class Crowd:
    """Due tasks by tenant, and an account of what each has had: in full batches, divided by its weight."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[int, float]] = {}  # tenant -> id -> epoch seconds at which it was due
        self._whose: dict[int, str] = {}
        self._unsorted: set[str] = set()  # tenants whose tasks are not in order of due time
        self._many: set[str] = set()  # tenants that have more than is kept
        self._had: dict[str, float] = {}
        self._least = 0.0  # what the one that had least had, when somebody was served last
        self._weights: Mapping[str, int] = {}

    @property
    def tenants(self) -> list[str]:
        """That have something due."""
        return [*self._kept.keys(), *(self._many - self._kept.keys())]

    @property
    def many(self) -> set[str]:
        """Tenants that have many due tasks."""
        return self._many

    @property
    def is_full(self) -> bool:
        return len(self._whose) >= MOST

    @property
    def keeps_any(self) -> bool:
        return bool(self._whose)

    @property
    def heavy(self) -> set[str]:
        """Tenants that have many, or have had more than their share."""
        return self._many | (self._kept.keys() - self._entitled())

    @property
    def behind(self) -> set[str]:
        """Of these, those that have had too little: none, as long as what is due first was shared out well enough."""
        had = {tenant: self._had[tenant] for tenant in self.heavy}
        least = min(had.values(), default=0.0)
        if max(had.values(), default=0.0) - least <= SPREAD:
            return set()
        return {tenant for tenant in had if had[tenant] <= least + AHEAD}

    def weigh(self, weights: Mapping[str, int]) -> None:
        """Of tenants with another weight than the usual one."""
        self._weights = weights

    def kept(self, tenant: str) -> int:
        return len(self._kept.get(tenant, ()))

    def keeps(self, id_: int) -> bool:
        return id_ in self._whose

    def add(self, tenant: str, ids: Sequence[int], dues: Sequence[float]) -> None:
        """Some more that is due. Of a tenant that has many, it is not kept."""
        if tenant in self._many:
            return
        self._keep(tenant, ids, dues)
        if self.kept(tenant) > LIGHT:
            self.note_many(tenant)

    def note_many(self, tenant: str) -> None:
        """It has many: what is kept of it is not all there is, and need not be kept."""
        if tenant not in self._many:
            self._come(tenant)
            self._many.add(tenant)
            self._remove(list(self._kept.get(tenant, ())))

    def note_few(self, tenant: str) -> None:
        """It has not many any more: what there is, is read like that of others."""
        self._many.discard(tenant)

    def fill(self, tenant: str, ids: Sequence[int], dues: Sequence[float]) -> None:
        """What a tenant that has many has next."""
        self._keep(tenant, ids, dues)

    def light(self, most: int) -> list[int]:
        """All due tasks of those tenants that have few and have had no more than any that has many; the longest overdue
        first. None, while nobody has many: then nobody waits behind another."""
        if not self._many:
            return []
        found = sorted((due, id_) for tenant in self._entitled() for id_, due in self._kept[tenant].items())
        return [id_ for _, id_ in found[:most]]

    def next(self, most: int) -> list[int]:
        """Of those that are behind, of each its share of so many tasks."""
        chosen = [tenant for tenant in self.behind if tenant in self._kept]
        weights = sum(self._weight(tenant) for tenant in chosen)
        found: list[int] = []
        for tenant in chosen:
            share = ceil(most * self._weight(tenant) / weights)
            found += islice(self._in_order(tenant), share)
        return found

    def took(self, ids: Iterable[int], cost: float) -> None:
        """These were claimed; each costs so much of a full batch."""
        for tenant, tasks in Counter(self._remove(ids)).items():
            self._had[tenant] += tasks * cost * USUAL_WEIGHT / self._weight(tenant)
        self._advance()

    def charge(self, tasks: Mapping[str, int], cost: float) -> None:
        """So many tasks of each tenant were claimed in order of due time; each costs so much of a full batch."""
        for tenant, count in tasks.items():
            if tenant in self._kept or tenant in self._many:
                self._had[tenant] += count * cost * USUAL_WEIGHT / self._weight(tenant)
        self._advance()

    def whose(self, ids: Iterable[int]) -> dict[int, str]:
        """By id, of those that are kept."""
        return {id_: self._whose[id_] for id_ in ids if id_ in self._whose}

    def drop(self, ids: Iterable[int]) -> None:
        """These were claimed otherwise, are not due any more, or somebody has locked them."""
        self._remove(ids)

    def _keep(self, tenant: str, ids: Sequence[int], dues: Sequence[float]) -> None:
        if not ids:
            return
        kept = self._kept.get(tenant)
        if kept is None:
            self._come(tenant)
            kept = self._kept[tenant] = {}
        kept.update(zip(ids, dues, strict=True))
        self._whose.update(dict.fromkeys(ids, tenant))
        self._unsorted.add(tenant)

    def _entitled(self) -> set[str]:
        few = self._kept.keys() - self._many
        bound = min((self._had[tenant] for tenant in self._many), default=inf)
        return {tenant for tenant in few if self._had[tenant] <= bound}

    def _weight(self, tenant: str) -> int:
        return self._weights.get(tenant, USUAL_WEIGHT)

    def _come(self, tenant: str) -> None:
        """Nobody saves up for later what it had no use for."""
        if len(self._had) > FORGET:
            here = {*self._kept, *self._many}
            self._had = {one: had for one, had in self._had.items() if one in here or had > self._least}
        if tenant not in self._kept and tenant not in self._many:
            self._had[tenant] = max(self._had.get(tenant, 0.0), self._least)

    def _advance(self) -> None:
        here = [self._had[tenant] for tenant in self.tenants]
        self._least = max(self._least, min(here, default=self._least))

    def _in_order(self, tenant: str) -> dict[int, float]:
        if tenant in self._unsorted:
            self._unsorted.discard(tenant)
            self._kept[tenant] = dict(sorted(self._kept[tenant].items(), key=itemgetter(1)))
        return self._kept[tenant]

    def _remove(self, ids: Iterable[int]) -> list[str]:
        """Whose they were, of those that were kept."""
        whose = []
        for id_ in ids:
            tenant = self._whose.pop(id_, None)
            if tenant is not None:
                del self._kept[tenant][id_]
                whose.append(tenant)
        for tenant in set(whose):
            if not self._kept[tenant]:
                del self._kept[tenant]
        return whose
