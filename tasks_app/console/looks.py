"""A look at a page that many have open is made once for all who may do the same.

It is made for nobody in particular: the request that a view then gets has neither a session nor cookies, and a user of
whom it can be asked what they may do, and nothing else. What was asked is kept with the answer, and only somebody gets
it who may do just the same. What is a person's own (the token of forms, saved filters) is put in for each of them.
Somebody who works in one tenant shares with nobody.
"""

import math
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.response import TemplateResponse
from django.urls import get_script_prefix
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import get_language

from tasks_app.database import atomic

from . import saved
from .live import HEADER, is_look, seen_until
from .scope import member
from .shared import Made, Shared
from .templates import in_console

# Stand for what is a person's own. Nobody can know them, so nothing that is stored looks like them.
_TOKEN, _FILTERS = secrets.token_hex(32), secrets.token_hex(32)
_FILTERS_OF = re.compile(rf"{_FILTERS}-(\w+)-")


class _Personal(Exception):
    """What is shown is for whoever asked, and for nobody else."""


class Anybody:
    """Of whom nothing is known but what they may do."""

    is_authenticated = is_active = is_staff = True

    def __init__(self, may: Callable[[str], bool]) -> None:
        self._may = may
        self.answers: dict[str, bool] = {}

    def has_perm(self, permission: str) -> bool:
        if permission not in self.answers:
            self.answers[permission] = self._may(permission)
        return self.answers[permission]

    def get_username(self) -> str:
        raise _Personal


class NobodysRequest(HttpRequest):
    """The same question, whoever asks it."""

    def __init__(self, asked: HttpRequest) -> None:
        super().__init__()
        self.method, self.path, self.path_info = asked.method, asked.path, asked.path_info
        self.GET, self.resolver_match, self.current_app = asked.GET, asked.resolver_match, asked.current_app
        told = {"SCRIPT_NAME": "", "QUERY_STRING": "", f"HTTP_{HEADER.upper().replace('-', '_')}": ""}
        self.META = {name: asked.META.get(name, nothing) for name, nothing in told.items()}
        self.LANGUAGE_CODE = get_language()
        self.user = Anybody(asked.user.has_perm)


@dataclass(frozen=True, slots=True)
class Look:
    text: str
    answers: dict[str, bool]  # to what was asked about whoever looks

    def fits(self, user: AbstractBaseUser) -> bool:
        return all(user.has_perm(permission) == answer for permission, answer in self.answers.items())


LOOKS: Shared[Look] = Shared()


def shared(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """For views of pages in LIVE, methods of a site or a ModelAdmin; inside of what asks whether they are allowed."""

    @wraps(view)
    def looked(self: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # What lies in the archive is read over the network, which nobody should wait for in a transaction.
        if not is_look(request) or member() is not None or "cold" in request.GET:
            return view(self, request, *args, **kwargs)
        # One transaction: outside of one, each statement has its own, and says whose rows it is about.
        with atomic(savepoint=False):
            try:
                made = LOOKS.ask(
                    _question(request),
                    lambda: _look(NobodysRequest(request), lambda asked: view(self, asked, *args, **kwargs)),
                    after=seen_until(request),
                    fits=lambda look: look.fits(request.user),
                )
            except _Personal:
                return view(self, request, *args, **kwargs)
            return _told(made, request)

    return looked


def saved_filters(request: HttpRequest, page: str) -> SafeString:
    """Of whoever asks, above the list."""
    return SafeString(f"{_FILTERS}-{page}-") if isinstance(request, NobodysRequest) else saved.drawn(request, page)


def _question(request: HttpRequest) -> tuple[Any, ...]:
    """All that the answer depends on, but what somebody may do."""
    where = request.current_app, getattr(request, "urlconf", None), get_script_prefix(), request.get_full_path()
    return *where, get_language(), get_current_timezone_name()


def _look(request: NobodysRequest, view: Callable[[HttpRequest], HttpResponse]) -> Look:
    response = view(request)
    if not isinstance(response, TemplateResponse) or response.status_code != 200:
        raise _Personal
    response.context_data["csrf_token"] = _TOKEN
    text = in_console(response).render().content.decode()
    return Look(text, request.user.answers)


def _told(made: Made[Look], request: HttpRequest) -> HttpResponse:
    text = _FILTERS_OF.sub(lambda found: saved.drawn(request, found[1]), made.answer.text)
    response = HttpResponse(text.replace(_TOKEN, get_token(request)) if _TOKEN in text else text)
    response[HEADER] = str(made.ended)
    response["Age"] = str(math.ceil(made.age))
    return response
