"""Who may do what: the rights there are, the roles that people have in a tenant, and what is more than somebody has."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from .errors import InvalidTask, NotAllowed, nearest, shown
from .lanes import LANES, URGENT_LANE

USUAL_LANES = tuple(lane for lane in LANES if lane != URGENT_LANE)


class Right(StrEnum):
    """What a token, or a person in a tenant, may do."""

    READ = "read"  # see all of the tenant
    SCHEDULE = "schedule"  # make jobs and tasks, and change those of one's own
    OPERATE = "operate"  # change everything of the tenant
    ADMINISTER = "administer"  # say who may do what in it


class Role(StrEnum):
    """What a person is in a tenant. Those who run the installation have Django's permissions, and no role."""

    VIEWER = "viewer"
    AUTHOR = "author"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def rights(self) -> frozenset[Right]:
        return RIGHTS_OF[self]


ALL_RIGHTS = frozenset(Right)
RIGHTS_OF = {
    Role.VIEWER: frozenset({Right.READ}),
    Role.AUTHOR: frozenset({Right.READ, Right.SCHEDULE}),
    Role.OPERATOR: frozenset({Right.READ, Right.SCHEDULE, Right.OPERATE}),
    Role.ADMIN: ALL_RIGHTS,
}
# What a token that may write could do before rights had names, and what `--write` stands for.
WRITING = RIGHTS_OF[Role.OPERATOR]
READING = RIGHTS_OF[Role.VIEWER]


@dataclass(frozen=True, slots=True)
class Rights:
    """What a person may do, and where."""

    everywhere: frozenset[Right] = frozenset()  # in all tenants, by Django's permissions
    roles: Mapping[str, Role] = field(default_factory=dict)  # by tenant

    @property
    def tenants(self) -> frozenset[str] | None:
        """Those that they may see anything of; None: all."""
        return None if self.everywhere else frozenset(self.roles)

    def within(self, tenant: str) -> frozenset[Right]:
        role = self.roles.get(tenant)
        return self.everywhere | (role.rights if role else frozenset())


@dataclass(frozen=True, slots=True)
class Grant:
    """What somebody has in a tenant, or is to get there."""

    rights: frozenset[Right]
    types: Collection[str] | None = None  # task types; None: all that are open to the tenant
    lanes: Collection[str] | None = USUAL_LANES  # None: all
    until: datetime | None = None  # None: without end

    def beyond(self, own: "Grant") -> str | None:
        """What of this is more than `own`, in words; None: nothing."""
        if rights := [right for right in Right if right in self.rights - own.rights]:
            return f"the right to {rights[0]}"
        if own.types is not None and (more := _more(self.types, own.types, "all task types")):
            return f"task type {more}" if self.types is not None else more
        if own.lanes is not None and (more := _more(self.lanes, own.lanes, "all lanes")):
            return f"lane {more}" if self.lanes is not None else more
        if own.until is not None and (self.until is None or self.until > own.until):
            return f"a time after {own.until.isoformat(timespec='seconds')}, when yours ends"
        return None


def refuse_more(wanted: Grant, own: Grant) -> None:
    """NotAllowed if somebody would hand out more than they have."""
    if (more := wanted.beyond(own)) is not None:
        raise NotAllowed(f"That would grant {more}, and nobody can grant more than they have. Nothing was changed.")


def checked_role(given: object) -> Role:
    try:
        return Role(str(given))
    except ValueError:
        raise InvalidTask(
            f"there is no role {shown(given)}.{nearest(str(given), Role)} There are {', '.join(Role)}."
        ) from None


def checked_rights(given: Iterable[object]) -> frozenset[Right]:
    """A right includes those before it: who operates also schedules, and reads."""
    found = set()
    for one in given:
        if one not in set(Right):
            raise InvalidTask(
                f"there is no right {shown(one)}.{nearest(str(one), Right)} There are {', '.join(Right)}; each "
                "includes those before it."
            )
        found.add(Right(str(one)))
    if not found:
        raise InvalidTask(f"a token needs a right; there are {', '.join(Right)}, and each includes those before it.")
    return up_to(max(found, key=list(Right).index))


def up_to(right: Right) -> frozenset[Right]:
    order = list(Right)
    return frozenset(order[: order.index(right) + 1])


def highest(rights: Collection[Right]) -> Right:
    return max(rights, key=list(Right).index)


def _more(wanted: Collection[str] | None, own: Collection[str], everything: str) -> str | None:
    if wanted is None:
        return everything
    return next((repr(one) for one in sorted(wanted) if one not in own), None)
