"""What a person may do, and who makes whom a member: nobody grants more than they have, nor where they may not."""

from collections.abc import Mapping
from typing import Protocol

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.db.models import Q

from tasks_app.core.errors import InvalidTask, NotAllowed, NotThere
from tasks_app.core.roles import ALL_RIGHTS, WRITING, Grant, Right, Rights, Role, checked_role, refuse_more
from tasks_app.database import atomic
from tasks_app.lifecycle import members
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.members import Granted
from tasks_app.models import Membership

from .callers import Caller

# Django's permissions are for all tenants. The API has both jobs and tasks, so a person needs the rights to both.
VIEW = ("punctual.view_jobdefinition", "punctual.view_scheduletask")
OPERATE = ("punctual.operate_jobdefinition", "punctual.operate_scheduletask")
ADMINISTER = ("punctual.operate_membership", "punctual.operate_apitoken")


class Person(Protocol):
    """A user, of whatever model, or one who has not logged in."""

    @property
    def pk(self) -> object: ...

    def has_perm(self, perm: str) -> bool: ...


def rights_of(user: Person | None) -> Rights:
    """What this person may do, and where: by Django's permissions everywhere, and by their roles in tenants.

    A superuser is the administrator of the platform. Whoever may not enter the console has no rights.
    """
    if user is None or not (getattr(user, "is_active", True) and getattr(user, "is_staff", False)):
        return Rights()
    rows = Membership.objects.filter(user_key=str(user.pk)).values_list("tenant", "role")
    return Rights(everywhere(user), {tenant: Role(role) for tenant, role in rows})


def everywhere(user: Person) -> frozenset[Right]:
    """In all tenants. One who sees only tasks, or only jobs, has none of these, and what the pages of Django show."""
    if not all(user.has_perm(one) for one in VIEW):
        return frozenset()
    if not all(user.has_perm(one) for one in OPERATE):
        return frozenset({Right.READ})
    return ALL_RIGHTS if all(user.has_perm(one) for one in ADMINISTER) else WRITING


def grant(
    tenant: str, username: str, role: object, operator: Operator, *, granter: Caller | None = None, source: str = ""
) -> Granted:
    """`granter`: who does it, with what they have in that tenant; None: somebody at the command line of the server."""
    wanted = checked_role(role)
    with atomic():
        if granter is not None:
            _refuse_outsider(granter, tenant, username)
            refuse_more(Grant(wanted.rights), granter.grant)
        user = user_named(username)
        return members.grant(tenant, str(user.pk), user.get_username(), wanted, operator, source=source)


def revoke(tenant: str, username: str, operator: Operator, *, granter: Caller | None = None) -> Role:
    with atomic():
        if granter is not None:
            _refuse_outsider(granter, tenant, username)
        return members.revoke(tenant, username, operator)


def set_memberships(user: AbstractBaseUser, wanted: Mapping[str, object], *, source: str, by: str = "") -> None:
    """These are the roles, by tenant, that `source` gives the user: what it gave before and gives no longer is revoked.

    What was granted by hand, or by another source, stays as it is. For single sign-on: call it at each login.
    """
    if not source:
        raise InvalidTask("source is empty; name what keeps these memberships, such as 'oidc'.")
    asked = {tenant: checked_role(role) for tenant, role in wanted.items()}
    key, name = str(user.pk), user.get_username()
    rows = {row.tenant: row for row in Membership.objects.filter(user_key=key)}
    reason = f"as {source} says"
    with atomic():
        for tenant, role in asked.items():
            row = rows.get(tenant)
            if row is None or (row.source == source and row.role != role):
                members.grant(tenant, key, name, role, Operator(by or source, reason), source=source)
        for tenant, row in rows.items():
            if row.source == source and tenant not in asked:
                members.revoke(tenant, row.username, Operator(by or source, reason))


def user_named(username: str) -> AbstractBaseUser:
    """NotThere if there is none, or it is inactive."""
    users = get_user_model()
    clean = username.replace("\0", "")[:150]
    user: AbstractBaseUser | None = users._default_manager.filter(**{users.USERNAME_FIELD: clean}).first()
    if user is None or not user.is_active:
        raise NotThere(f"there is no active user {username[:150]!r}. Make one, or have them log in once.")
    return user


def _refuse_outsider(granter: Caller, tenant: str, username: str) -> None:
    """Whoever acts must have the right now: their membership, and the one that it is about, stay as they are until this
    is done. Both are locked at once and in order, so that two who act on each other take turns."""
    if Right.ADMINISTER not in granter.rights or not (granter.everywhere or granter.tenant == tenant):
        raise NotAllowed("you may not say who may do what in this tenant. One of its administrators can.")
    if granter.user_key is None or granter.everywhere:
        return
    whose = Q(user_key=granter.user_key) | Q(username=username)
    rows = list(Membership.objects.select_for_update().filter(whose, tenant=tenant).order_by("id"))
    own = next((Role(row.role) for row in rows if row.user_key == granter.user_key), None)
    if own is None or Right.ADMINISTER not in own.rights:
        raise NotAllowed("you may no longer say who may do what in this tenant. One of its administrators can.")
