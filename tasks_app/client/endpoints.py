"""Endpoints of an app's own in the REST API, with its tokens, tenants, rates and problems.

A view raises NotThere for what does not exist or is another tenant's (404), InvalidTask for what makes no sense (422).
`@may_answer("SCH_404_NOT_FOUND")` names what its parameters don't bring by themselves; a schema has its own `examples`.
"""

from typing import Annotated, cast

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import Field, StringConstraints

from tasks_app.core.errors import InvalidTask, NotThere
from tasks_app.core.routers import ROUTERS, may_answer
from tasks_app.engine.operations.callers import Caller

__all__ = [
    "PAGE",
    "Caller",
    "Cursor",
    "InvalidTask",
    "Limit",
    "Next",
    "NotThere",
    "Text",
    "caller",
    "may_answer",
    "register_router",
]

PAGE, LARGEST_PAGE = 50, 200

# PostgreSQL can't store a NUL. What else may not be in a name or a reason is told by lifecycle, as everywhere.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=1000)]
# Of every list: a page of so many, where it begins, and where the next one does.
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="At most this many items")]
Cursor = Annotated[Text | None, Query(description="`next` of the previous page, unchanged; left out: the first page")]
_NEXT_SAYS = "`after` of the next page; null on the last. A page may be short, or even empty, and still have a next one"
Next = Annotated[str | None, Field(description=_NEXT_SAYS)]


def register_router(prefix: str, router: Router, *, tag: str = "", says: str = "") -> None:
    """Serve the views of this `ninja.Router` below `/api/v1` and the prefix, such as `/invoices`.

    `says` is what the schema tells about the `tag` of its views.

    Put it in a module named `punctual_api` of an installed app: it is imported when the API is served, and only then.
    """
    ROUTERS.add(prefix, router, tag, says)


def caller(request: HttpRequest) -> Caller:
    """Who asks: its tenant, and which types it may see; a person's rights are those of `request.user`."""
    return cast(Caller, request.auth)
