"""What somebody typed into a form whose login has run out: kept in the session, and back after they log in again.

A form takes part with `{% typed_by %}`: a signed note of who it was made for. Nothing is kept of a form without it, so
nobody who has no page of ours can fill the sessions; and nothing is shown to, or kept for, anybody else. What is kept
is decided in tasks_app/console/guard.py.
"""

from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.signals import user_logged_in
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext_lazy

FIELD = "typed_by"
KEPT = "punctual_typed"  # in the session, which is the whole project's
SALT = "tasks_app.pages.typed"
LONGEST = 30 * 86_400  # s; an older page is as good as a forged one
BACK = gettext_lazy(
    "Nothing was saved: you had to log in again. What you typed is back; check it and press the button again."
)


def signed_for(user: AbstractBaseUser) -> str:
    return str(signing.dumps(str(user.pk), salt=SALT))


def keep(request: HttpRequest) -> bool:
    """Keep what was sent, unless it is nobody's, or somebody else's than the current user's."""
    try:
        by = signing.loads(request.POST.get(FIELD, ""), salt=SALT, max_age=LONGEST)
    except signing.BadSignature:
        return False
    if request.user.is_authenticated and str(request.user.pk) != by:
        return False
    sent = {name: values for name, values in request.POST.lists() if name not in (FIELD, "csrfmiddlewaretoken")}
    request.session[KEPT] = {"by": by, "path": request.get_full_path(), "sent": sent}
    return True


def take_back(request: HttpRequest) -> QueryDict | None:
    """What was typed into the form of this address before the login, once; None: nothing was."""
    kept = request.session.get(KEPT)
    if request.method != "GET" or kept is None or kept["path"] != request.get_full_path():
        return None
    del request.session[KEPT]
    if kept["by"] != str(request.user.pk):
        return None
    messages.warning(request, BACK)
    typed = QueryDict(mutable=True)
    for name, values in kept["sent"].items():
        typed.setlist(name, values)
    return typed


@receiver(user_logged_in)
def forget_others(request: HttpRequest, user: AbstractBaseUser, **_: object) -> None:
    """Somebody else has logged in where it was typed. A project may tell of logins that have no session."""
    session = getattr(request, "session", None)
    if session is not None and session.get(KEPT, {}).get("by", str(user.pk)) != str(user.pk):
        del session[KEPT]
