"""The forms that check a password, login and password change: both throttle guesses."""

from math import ceil
from typing import Any

from django.core.exceptions import ValidationError
from django.forms.renderers import DjangoTemplates
from django.http import HttpRequest
from django.utils.translation import gettext
from unfold.forms import AdminOwnPasswordChangeForm, AuthenticationForm

from tasks_app.engine.web import people, throttle


class LoginForm(AuthenticationForm):
    default_renderer = DjangoTemplates  # unfold's widgets have no other templates, whatever FORM_RENDERER says

    def clean(self) -> dict[str, Any]:
        username = self.cleaned_data.get("username")
        if username is None or not self.cleaned_data.get("password"):
            unchecked: dict[str, Any] = super().clean()
            return unchecked
        _count_guess(self.request, username)
        cleaned: dict[str, Any] = super().clean()
        throttle.login_succeeded(username, people.address_of(self.request))
        return cleaned


class PasswordForm(AdminOwnPasswordChangeForm):
    """The change of one's own password. Wrong old passwords count as failed logins."""

    default_renderer = DjangoTemplates

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        username = self.user.get_username()
        _count_guess(self.request, username)
        old: str = super().clean_old_password()
        throttle.login_succeeded(username, people.address_of(self.request))
        return old


def _count_guess(request: HttpRequest, username: str) -> None:
    """Refuse it before the password is checked, after too many failures."""
    wait = ceil(throttle.login_attempt(username, people.address_of(request)))
    if wait:
        people.login_refused()
        request.retry_after = wait
        raise ValidationError(
            gettext("Too many failed logins. Try again in {time}, or ask somebody to set a new password.").format(
                time=_words(wait)
            ),
            code="throttled",
        )


def _words(seconds: int) -> str:
    if seconds == 1:
        return gettext("a second")
    if seconds < 120:
        return gettext("{count} seconds").format(count=seconds)
    return gettext("{count} minutes").format(count=ceil(seconds / 60))
