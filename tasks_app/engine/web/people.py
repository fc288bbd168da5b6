"""Logins, failures, logouts and changes of rights go into the audit trail.

Those of the console alone, unless the console is the project's own admin: whoever comes and goes elsewhere in the
project is none of our business.

Whoever fails can do so a million times, so failures have a budget of rows; what is beyond it is counted, and told by
the next row that is written.
"""

import getpass
import logging
import os
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from contextvars import ContextVar
from typing import Any

from django.contrib.auth import get_permission_codename, get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import BadRequest
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.http import HttpRequest
from django.utils.translation import gettext

from tasks_app.core.networks import plain
from tasks_app.lifecycle.audit import ACTOR_LENGTH, Entry, Operator, audit

log = logging.getLogger(__name__)

VERBS = ("login", "logout", "api", "rights")
NOBODY = "nobody"
SUBJECT_LENGTH = 250
ROWS_AT_ONCE = 60  # of failures, in one process; and then one a minute
RUNS = ("is_active", "is_staff", "is_superuser")  # all of them: an administrator of the platform
WATCHED = ("username", "is_active", "is_staff", "is_superuser", "password")

# Who acts in the console, in this thread: a function, since a request may learn that only on its way.
acting: ContextVar[Any] = ContextVar("acting", default=None)


class Recorder:
    """Says which failures are written down."""

    def __init__(self) -> None:
        self.rows_left: float = ROWS_AT_ONCE
        self.refilled = time.monotonic()
        self.uncounted = 0
        self._lock = threading.Lock()

    def takes(self) -> bool:
        """Whether this failure gets a row; else it is counted."""
        with self._lock:
            now = time.monotonic()
            self.rows_left = min(ROWS_AT_ONCE, self.rows_left + (now - self.refilled) / 60)
            self.refilled = now
            if self.rows_left < 1:
                self.uncounted += 1
                return False
            self.rows_left -= 1
            return True

    def note(self) -> None:
        """A failure that never gets a row of its own."""
        with self._lock:
            self.uncounted += 1

    def owed(self) -> dict[str, int]:
        """What the next row has to tell of those before it."""
        with self._lock:
            more, self.uncounted = self.uncounted, 0
        return {"more_failures": more} if more else {}


class Watch:
    """Whose logins are written down: those of the console, or all of the project."""

    whole_project = False

    def sees(self) -> bool:
        return self.whole_project or acting.get() is not None


RECORDER, WATCH = Recorder(), Watch()


def login_failed(username: str, address: str) -> None:
    if not RECORDER.takes():
        return
    # What is typed into this field may be a password; only a name that we know is written down.
    users = get_user_model()
    known = users._default_manager.filter(**{users.USERNAME_FIELD: username[:ACTOR_LENGTH].replace("\0", "")}).exists()
    subject = f"user {username}" if known else "an unknown user"
    log.warning("login.failed subject=%r address=%s", subject, address)
    _write(NOBODY, "login", [Entry(subject, "failed", None, RECORDER.owed())], f"failed from {address}")


def login_refused() -> None:
    """Too many failed before it: no password was looked at."""
    RECORDER.note()


def call_refused(address: str) -> None:
    """A call of the API without a valid token."""
    if RECORDER.takes():
        log.warning("api.unauthenticated address=%s", address)
        entry = Entry("the REST API", "refused", None, RECORDER.owed())
        _write(NOBODY, "api", [entry], f"no valid token, from {address}")


def may_be_seen_by(user: AbstractBaseUser) -> bool:
    """Who logged in from where is for those who may see the users, whatever model those are of."""
    users = get_user_model()._meta
    return bool(user.has_perm(f"{users.app_label}.{get_permission_codename('view', users)}"))


def address_of(request: HttpRequest | None) -> str:
    return plain((request.META.get("REMOTE_ADDR") if request is not None else "") or "a local process")


def watch_project() -> None:
    """Listen to all that Django says of users and groups, wherever it happens."""
    WATCH.whole_project = True
    users = get_user_model()
    for model in (users, Group):
        pre_save.connect(_remember, sender=model, dispatch_uid=f"punctual.before.{model.__name__}")
        post_save.connect(_on_save, sender=model, dispatch_uid=f"punctual.saved.{model.__name__}")
        post_delete.connect(_on_delete, sender=model, dispatch_uid=f"punctual.deleted.{model.__name__}")
    for model, name in ((users, "groups"), (users, "user_permissions"), (Group, "permissions")):
        if field := getattr(model, name, None):
            m2m_changed.connect(_on_members, sender=field.through, dispatch_uid=f"punctual.{model.__name__}.{name}")


# Django's signals.


def on_login(sender: object, request: HttpRequest | None, user: AbstractBaseUser, **_: object) -> None:
    if not WATCH.sees():
        return
    entry = Entry(_subject(user), "logged in", None, RECORDER.owed())
    _write(user.get_username(), "login", [entry], f"from {address_of(request)}")


def on_logout(sender: object, request: HttpRequest | None, user: AbstractBaseUser | None, **_: object) -> None:
    if user is not None and WATCH.sees():
        _write(user.get_username(), "logout", [Entry(_subject(user), "logged out")], f"from {address_of(request)}")


def on_failure(
    sender: object, credentials: Mapping[str, object], request: HttpRequest | None = None, **_: object
) -> None:
    if WATCH.sees():
        login_failed(str(credentials.get(get_user_model().USERNAME_FIELD) or ""), address_of(request))


def _remember(sender: type[Model], instance: Model, update_fields: Collection[str] | None = None, **_: object) -> None:
    names = [name for name in _watched(sender) if update_fields is None or name in update_fields]
    instance._punctual_before = None
    if instance.pk is not None and names:
        instance._punctual_before = sender._default_manager.filter(pk=instance.pk).values(*names).first()


def _on_save(sender: type[Model], instance: Model, created: bool, **_: object) -> None:
    before = getattr(instance, "_punctual_before", None)
    if created or before is None:
        if created:
            flags = [name for name in _watched(sender) if getattr(instance, name) is True]
            _write_rights([Entry(_subject(instance), "created", None, {"has": flags} if flags else None)])
        return
    if all(before.get(name) for name in RUNS) and not all(getattr(instance, name) for name in RUNS):
        _refuse_last(sender)
    changed: dict[str, Any] = {name: [value, getattr(instance, name)] for name, value in before.items()}
    changed = {name: pair for name, pair in changed.items() if pair[0] != pair[1]}
    if "password" in changed:
        # A login may store the same password under a newer hash.
        changed["password"] = "changed" if getattr(instance, "_password", None) is not None else "stored anew"
    if changed:
        _write_rights([Entry(_subject(instance), "changed", None, changed)])


def _on_delete(sender: type[Model], instance: Model, **_: object) -> None:
    if all(getattr(instance, name, False) for name in RUNS):
        _refuse_last(sender)
    _write_rights([Entry(_subject(instance), "deleted")])


def _refuse_last(users: type[Model]) -> None:
    """On a page of the console, nobody takes the platform from its last administrator: the transaction is undone. Those
    who are left are locked, so two who do it to each other don't both succeed."""
    if acting.get() is None:
        return
    left = users._default_manager.select_for_update().filter(**dict.fromkeys(RUNS, True))
    if not list(left.values_list("pk", flat=True)[:1]):
        raise BadRequest(
            gettext("Nobody would be left who administers the platform. Make another active staff superuser first.")
        )


def _on_members(
    sender: type[Model],
    instance: Model,
    action: str,
    reverse: bool,
    model: type[Model],
    pk_set: set[Any] | None,
    **_: object,
) -> None:
    outcome = {"post_add": "added", "post_remove": "removed", "pre_clear": "removed"}.get(action)
    if outcome is None or (pk_set is not None and not pk_set):
        return
    name = _relation(sender)
    others = _known(model, pk_set) if pk_set is not None else _all_of(instance, name, reverse)
    if reverse:
        entries = [Entry(_subject(other), outcome, None, {name: [_label(instance)]}) for other in others]
    else:
        entries = [Entry(_subject(instance), outcome, None, {name: [_label(other) for other in others]})]
    _write_rights([entry for entry in entries if entry.detail and any(entry.detail.values())])


# How they are told.


def _watched(model: type[Model]) -> list[str]:
    names = {field.name for field in model._meta.concrete_fields}
    return [name for name in (*WATCHED, "name") if name in names]


def _relation(through: type[Model]) -> str:
    found = ((get_user_model(), "groups"), (get_user_model(), "user_permissions"), (Group, "permissions"))
    return next(name for model, name in found if getattr(getattr(model, name, None), "through", None) is through)


def _all_of(instance: Model, name: str, reverse: bool) -> Iterable[Model]:
    if not reverse:
        return list(getattr(instance, name).all())
    return list(get_user_model()._default_manager.filter(**{name: instance}))


def _known(model: type[Model], ids: set[Any]) -> Iterable[Model]:
    found = model._default_manager.filter(pk__in=ids)
    # Of a permission, its label names the app.
    rows: Iterable[Model] = found.select_related("content_type") if model is Permission else found
    return rows


def _subject(one: Model) -> str:
    return f"{'group' if isinstance(one, Group) else 'user'} {_label(one)}"


def _label(one: Model) -> str:
    if hasattr(one, "get_username"):
        return str(one.get_username())
    return f"{one.content_type.app_label}.{one.codename}" if hasattr(one, "codename") else str(one)


def _write_rights(entries: list[Entry]) -> None:
    who = acting.get()
    _write((who() if who else "") or f"command line of {_account()}", "rights", entries, "rights were changed")


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an id without a name, as in some containers
        return f"uid {os.getuid()}"


def _write(actor: str, verb: str, entries: list[Entry], reason: str) -> None:
    entries = [entry._replace(subject=_clean(entry.subject, SUBJECT_LENGTH)) for entry in entries]
    audit(Operator(_clean(actor, ACTOR_LENGTH) or NOBODY, reason), verb, entries)


def _clean(text: str, longest: int) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:longest]
