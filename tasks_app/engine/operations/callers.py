"""Who calls the API, for which tenant, and what is open to them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.errors import LaneClosed, NotForTenants, TypeClosed
from tasks_app.core.handlers import REGISTRY, Handler
from tasks_app.core.roles import Grant, Right
from tasks_app.core.tenants import INTERNAL_TENANT

MOST_NAMED = 20  # types in an answer
TYPE_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, for which tenant, and what it may see and change."""

    name: str
    tenant: str
    rights: frozenset[Right]
    types: frozenset[str] | None = None  # all it may see and use; None: all that are open to its tenant
    lanes: tuple[str, ...] | None = None  # that it may use; None: all
    is_person: bool = False
    everywhere: bool = False  # a person with rights in all tenants, who could do in the admin what is closed to tokens
    suspended: str | None = None  # why its tenant is, if it is
    calls_per_minute: int | None = None  # of its tenant, by all its tokens
    can_decrypt: bool = False  # a token; of people, Django's permission is asked
    until: datetime | None = None  # when it ends; None: never
    user_key: str | None = None  # of a person, as memberships have it

    @property
    def can_write(self) -> bool:
        return Right.SCHEDULE in self.rights

    @property
    def owns_only(self) -> bool:
        """Whether it may change only what it has made itself."""
        return self.can_write and Right.OPERATE not in self.rights

    @property
    def grant(self) -> Grant:
        return Grant(self.rights, self.types, self.lanes, self.until)

    @property
    def reach(self) -> dict[str, object]:
        """The rights of this caller, as they are stored with its answer."""
        return {
            "name": self.name,
            "rights": sorted(self.rights),
            "types": None if self.types is None else sorted(self.types),
            "lanes": None if self.lanes is None else sorted(self.lanes),
            "everywhere": self.everywhere,
        }

    def covers(self, reach: Mapping[str, Any]) -> bool:
        """Whether it has all rights of the first caller. If it may change only its own, it must be the first caller."""
        return (
            self.rights >= set(reach["rights"])
            and _includes(self.types, reach["types"])
            and _includes(self.lanes, reach["lanes"])
            and (self.everywhere or not reach["everywhere"])
            and (not self.owns_only or self.name == reach["name"])
        )

    def may_see(self, task_type: str) -> bool:
        return self.types is None or task_type in self.types

    def refuse_closed_type(self, task_type: str) -> None:
        """The same answer for a type that is closed, another's or not there at all: it tells nothing of the others."""
        if self.everywhere or task_type in (usable := self.usable_types()):
            return
        raise TypeClosed(
            f"task type {task_type[:TYPE_LENGTH]!r} is not open to this token. It may use {_named(usable)}."
        )

    def refuse_closed_lane(self, lane: str) -> None:
        if self.everywhere or self.lanes is None or lane in self.lanes:
            return
        raise LaneClosed(
            f"lane {lane!r} is not open to this token. It may use {', '.join(self.lanes)}: name one of them."
        )

    @property
    def may_keep_secrets(self) -> bool:
        """They are for callbacks: a token has to name these. People can't name types; their role is enough, in a
        tenant that callbacks are open to."""
        if self.is_person and not self.everywhere:
            return any(one.name == HTTP_CALLBACK and one.is_open_to(self.tenant) for one in REGISTRY)
        return self.everywhere or HTTP_CALLBACK in self.usable_types()

    def usable_types(self) -> list[str]:
        if self.everywhere:
            return sorted(one.name for one in REGISTRY)
        return sorted(one.name for one in REGISTRY if one.is_open_to(self.tenant) and self._may_use(one))

    @property
    def types_to_choose(self) -> str:
        """For somebody who has named none."""
        return f"task_type is missing; it says what runs. You may use {_named(self.usable_types())}."

    def _may_use(self, handler: Handler) -> bool:
        named = self.types is not None and handler.name in self.types
        return named or (self.types is None and not handler.named_only)

    @property
    def is_internal(self) -> bool:
        return self.tenant == INTERNAL_TENANT

    @property
    def is_operator(self) -> bool:
        """Whether it may see and change what all tenants share: a person, or a token of all that is internal."""
        return self.everywhere or (self.is_internal and self.types is None)

    def refuse_outsider(self, what: str) -> None:
        if not self.is_operator:
            raise NotForTenants(
                f"All tenants share {what}, so this is for operators, and for tokens of tenant {INTERNAL_TENANT!r} "
                "that have all types."
            )


def _includes(own: Collection[str] | None, asked: Collection[str] | None) -> bool:
    """None is all."""
    return own is None or (asked is not None and set(own) >= set(asked))


def _named(types: list[str]) -> str:
    """The first of them, for a sentence."""
    if not types:
        return "none so far: declare a handler with api=True, and name it in the token's types if it has some"
    return f"{', '.join(types[:MOST_NAMED])}{' …' if types[MOST_NAMED:] else ''}"
