"""The form of the login, which makes whoever guesses wait."""

from math import ceil

from django.core.exceptions import ValidationError
from django.forms.renderers import DjangoTemplates
from django.utils.translation import gettext
from unfold.forms import AuthenticationForm

from tasks_app.engine.web import people, throttle


class LoginForm(AuthenticationForm):
    default_renderer = DjangoTemplates  # unfold's widgets have no other templates, whatever FORM_RENDERER says

    def clean(self) -> dict:
        username, address = self.cleaned_data.get("username"), people.address_of(self.request)
        if username is None or not self.cleaned_data.get("password"):
            return super().clean()
        wait = ceil(throttle.login_attempt(username, address))
        if wait:
            people.login_refused()
            self.request.retry_after = wait
            raise ValidationError(
                gettext("Too many failed logins. Try again in {time}, or ask somebody to set a new password.").format(
                    time=_words(wait)
                ),
                code="throttled",
            )
        cleaned = super().clean()
        throttle.login_succeeded(username, address)
        return cleaned


def _words(seconds: int) -> str:
    if seconds == 1:
        return gettext("a second")
    if seconds < 120:
        return gettext("{count} seconds").format(count=seconds)
    return gettext("{count} minutes").format(count=ceil(seconds / 60))
