"""Whether people whose streams are open still have the rights that they came with: all of them, by a few statements."""

from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.utils import timezone

from tasks_app.models import Membership

OF_USER = ("is_active", "is_staff", "is_superuser", "password")


def open_sessions(keys: Collection[str]) -> set[str]:
    """Those of the sessions that have neither ended nor run out."""
    if settings.SESSION_ENGINE.endswith(".signed_cookies"):
        return set(keys)  # nobody but the browser has them
    store = import_module(settings.SESSION_ENGINE).SessionStore
    if hasattr(store, "get_model_class"):
        rows = store.get_model_class()._default_manager.filter(session_key__in=keys, expire_date__gt=timezone.now())
        return set(rows.values_list("session_key", flat=True))
    return {key for key in keys if store().exists(key)}


def rights_of_each(users: Collection[object]) -> Mapping[object, object]:
    """What decides on somebody's rights, by the key of the user: to be compared, and for nothing else. Who is gone has
    none."""
    model = get_user_model()
    fields = [name for name in OF_USER if name in {one.name for one in model._meta.get_fields()}]
    rows = model._default_manager.filter(pk__in=users).values_list("pk", *fields)
    found = {key: [tuple(values)] for key, *values in rows}
    _add(found, _linked(model, "user_permissions", users))
    of_groups = list(_linked(model, "groups", users))
    _add(found, of_groups)
    theirs: dict[object, list[Any]] = {}
    for group, permission in _linked(Group, "permissions", {group for _, group in of_groups}):
        theirs.setdefault(group, []).append(permission)
    _add(found, ((user, tuple(sorted(theirs.get(group, ())))) for user, group in of_groups))
    by_text = {str(key): key for key in found}
    members = Membership.objects.filter(user_key__in=by_text).values_list("user_key", "tenant", "role")
    _add(found, ((by_text[key], (tenant, role)) for key, tenant, role in members))
    return {key: sorted(map(repr, parts)) for key, parts in found.items()}


def _linked(model: type, name: str, keys: Collection[object]) -> Iterable[tuple[Any, Any]]:
    """The pairs of a many-to-many field; none for a model of users that has no such field."""
    link = getattr(model, name, None)
    if link is None or not keys:
        return []
    here, there = link.field.m2m_field_name(), link.field.m2m_reverse_field_name()
    rows = link.through._default_manager.filter(**{f"{here}__in": keys})
    pairs: Iterable[tuple[Any, Any]] = rows.values_list(f"{here}_id", f"{there}_id")
    return pairs


def _add(found: dict[object, list[Any]], parts: Iterable[tuple[object, object]]) -> None:
    for key, part in parts:
        if key in found:
            found[key].append(part)
