"""Where the console's pages are: in the project's own admin, or wherever its URLconf has put `django_punctual.urls`."""

from django.conf import settings
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, reverse

API = "punctual-api"  # the namespace of the REST API
SITE = "punctual"  # the site beside the project's own; where there is none, Django takes the one that is called "admin"


def console_url(name: str, *args: object) -> str:
    """The address of a page of the console, such as `index` or `punctual_scheduletask_change`."""
    return str(reverse(f"admin:{name}", args=args, current_app=SITE))


def api_url() -> str | None:
    """Where the REST API begins; None: it is not installed, or the project serves none."""
    try:
        return str(reverse(f"{API}:read_health")).removesuffix("/scheduler/health")
    except NoReverseMatch:
        return None


def api_docs() -> str | None:
    """The page that shows the REST API to people; None: there is none."""
    try:
        return str(reverse(f"{API}:openapi-view"))
    except NoReverseMatch:
        return None


def login_url() -> str:
    """Where a person logs in: at the console, or else where the project says."""
    try:
        return console_url("login")
    except NoReverseMatch:
        return str(resolve_url(settings.LOGIN_URL))
