"""The form of the login, which makes whoever guesses wait; and the middleware that knows who acts."""

from collections.abc import Callable
from math import ceil

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from unfold.forms import AuthenticationForm

from tasks_app.engine.web import people, throttle


class LoginForm(AuthenticationForm):
    def clean(self) -> dict:
        username, address = self.cleaned_data.get("username"), people.address_of(self.request)
        if username is None or not self.cleaned_data.get("password"):
            return super().clean()
        wait = ceil(throttle.login_attempt(username, address))
        if wait:
            people.login_refused()
            self.request.retry_after = wait
            raise ValidationError(
                f"Too many logins have failed. Try again in {_words(wait)}, or ask somebody to set a new password.",
                code="throttled",
            )
        cleaned = super().clean()
        throttle.login_succeeded(username, address)
        return cleaned


def access_middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Tells the audit trail who changes rights, and answers 429 where a form made somebody wait."""

    def respond(request: HttpRequest) -> HttpResponse:
        before = people.acting.set(lambda: request.user.get_username() if hasattr(request, "user") else "")
        try:
            response = get_response(request)
        finally:
            people.acting.reset(before)
        if wait := getattr(request, "retry_after", None):
            response.status_code = 429
            response["Retry-After"] = str(wait)
        return response

    return respond


def _words(seconds: int) -> str:
    if seconds == 1:
        return "a second"
    return f"{seconds} seconds" if seconds < 120 else f"{ceil(seconds / 60)} minutes"
