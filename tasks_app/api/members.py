"""/members and /tokens: who may do what in the caller's tenant. Nobody grants more than they have."""

from datetime import datetime
from typing import Annotated, Any, Self

from django.http import HttpRequest
from ninja import Path, Router, Schema, Status
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Text
from tasks_app.core.roles import USUAL_LANES, Right, Role, highest
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations import api_tokens, members
from tasks_app.engine.operations.callers import Caller
from tasks_app.models import ApiToken, Membership

from .auth import caller, refuse_without
from .enums import Lane
from .idempotency import mutation
from .jobs import operator
from .problems import Problem
from .schemas import Id, Key, Model, Page, id_of

people = Router(tags=["members"])
tokens = Router(tags=["members"])
Named = Annotated[Text, Path(description="The user name")]


class MemberIn(Model):
    role: Role
    reason: Text | None = Field(None, description="Why; kept in the audit")


class MemberOut(Schema):
    """A person who has a role in the tenant."""

    username: str
    role: Role
    source: str = Field(description="What keeps it, such as a single sign-on; empty: it was granted by hand")
    granted_by: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: Membership) -> "MemberOut":
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class MemberPage(Page):
    items: list[MemberOut]


class MemberGrantedOut(Schema):
    before: Role | None = Field(description="What they were until now; null: nothing")
    member: MemberOut


class TokenPatch(Model):
    """The fields to change."""

    right: Right | None = Field(None, description="The highest that it has; each includes those before it")
    types: list[Text] | None = Field(None, description="All it may see and use; null: all that are open to its tenant")
    lanes: list[Lane] | None = Field(None, description="That it may use")
    reason: Text | None = Field(None, description="Why; kept in the audit")


class TokenIn(TokenPatch):
    """A new token."""

    name: Text = Field(min_length=1, description="Who will use it")
    right: Right = Right.READ
    days: float | None = Field(None, description="It expires after so many; left out: never")


class TokenOut(Schema):
    """A token, without its text."""

    id: int
    name: str
    begins: str = Field(description="How its text begins")
    right: Right = Field(description="The highest that it has; each includes those before it")
    types: list[str] | None = Field(description="All it may see and use; null: all that are open to its tenant")
    lanes: list[str] | None = Field(description="That it may use; null: all")
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute")

    @classmethod
    def of(cls, row: ApiToken, **more: Any) -> Self:
        plain = {name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)}
        return cls(**plain | {"begins": row.hint, "right": highest(row.rights)} | more)


class TokenIssued(TokenOut):
    """A new token, and its text."""

    text: str = Field(description="Shown this once, and kept nowhere")


class TokenPage(Page):
    items: list[TokenOut]


@people.get("", response=MemberPage, summary="List the members of the tenant, by name")
@may_answer("SCH_403_FORBIDDEN")
def list_members(request: HttpRequest, after: Cursor = None, limit: Limit = PAGE) -> dict[str, object]:
    asked = _who_may(request, "view_membership")
    rows = Membership.objects.filter(tenant=asked.tenant, username__gt=after or "").order_by("username")
    found = list(rows[: limit + 1])
    more = found[limit - 1].username if len(found) > limit else None
    return {"items": [MemberOut.of(row) for row in found[:limit]], "next": more}


@people.put("/{username}", response=MemberGrantedOut, summary="Give a person a role in the tenant, or another one")
@may_answer("SCH_404_NOT_FOUND")
@mutation
def grant_membership(
    request: HttpRequest, username: Named, body: MemberIn, idempotency_key: Key = None
) -> tuple[int, MemberGrantedOut]:
    """A person has one role in a tenant. Nobody grants more than they have."""
    asked = _who_may(request, "operate_membership")
    done = members.grant(asked.tenant, username, body.role, operator(request, body.reason), granter=asked)
    return 200, MemberGrantedOut(before=done.before, member=MemberOut.of(done.row))


@people.delete("/{username}", response={204: None}, summary="Take a person's role in the tenant away")
@mutation
def revoke_membership(request: HttpRequest, username: Named, idempotency_key: Key = None) -> tuple[int, None]:
    asked = _who_may(request, "operate_membership")
    members.revoke(asked.tenant, username, operator(request), granter=asked)
    return 204, None


@tokens.get("", response=TokenPage, summary="List the tokens of the tenant, without their text")
@may_answer("SCH_403_FORBIDDEN")
def list_tokens(request: HttpRequest, after: Cursor = None, limit: Limit = PAGE) -> dict[str, object]:
    asked = _who_may(request, "view_apitoken")
    rows = ApiToken.objects.filter(tenant=asked.tenant, metrics=False).defer("digest").order_by("-id")
    found = list((rows if after is None else rows.filter(id__lt=id_of(after)))[: limit + 1])
    more = str(found[limit - 1].id) if len(found) > limit else None
    return {"items": [TokenOut.of(row) for row in found[:limit]], "next": more}


@tokens.post("", response={201: TokenIssued}, summary="Issue a token of the tenant")
@may_answer("SCH_403_TYPE_CLOSED")
def issue_token(request: HttpRequest, body: TokenIn) -> Status[TokenIssued]:
    """Takes no Idempotency-Key: its answer has the text of the token, which is stored nowhere."""
    asked = _who_may(request, "operate_apitoken")
    row, text = api_tokens.issue(
        body.name,
        asked.tenant,
        operator(request, body.reason),
        internal=asked.is_internal,
        granter=asked,
        types=body.types,
        lanes=body.lanes or USUAL_LANES,
        rights=[body.right],
        days=body.days,
    )
    return Status(201, TokenIssued.of(row, text=text))


@tokens.patch("/{token_id}", response=TokenOut, summary="Change what a token may do")
@may_answer("SCH_403_TYPE_CLOSED")
@mutation
def change_token(
    request: HttpRequest, token_id: Id, body: TokenPatch, idempotency_key: Key = None
) -> tuple[int, TokenOut]:
    """It holds for the next call that is made with it. What it may in the end can't be more than the caller may."""
    asked = _who_may(request, "operate_apitoken")
    given = body.model_dump(exclude_unset=True, exclude={"reason"})
    how = {"rights": given.get("right") and [given["right"]], "lanes": given.get("lanes")}
    how |= {"types": given["types"]} if "types" in given else {}
    _refuse_foreign(token_id, asked)
    row, _ = api_tokens.change(token_id, operator(request, body.reason), granter=asked, **how)
    return 200, TokenOut.of(row)


@tokens.post("/{token_id}/revoke", response={204: None}, summary="Revoke a token: it opens nothing any more")
@mutation
def revoke_token(request: HttpRequest, token_id: Id, idempotency_key: Key = None) -> tuple[int, None]:
    asked = _who_may(request, "operate_apitoken")
    if not api_tokens.revoke(token_id, operator(request), tenant=asked.tenant):
        raise Problem("SCH_404_NOT_FOUND", f"There is no token {token_id} that could be revoked.")
    return 204, None


def _who_may(request: HttpRequest, permission: str) -> Caller:
    asked = caller(request)
    refuse_without(request, asked, f"punctual.{permission}")
    return asked


def _refuse_foreign(token_id: int, asked: Caller) -> None:
    """One of another tenant is as good as none, also to those who could have named that tenant."""
    if not ApiToken.objects.filter(id=token_id, tenant=asked.tenant, metrics=False).exists():
        raise Problem("SCH_404_NOT_FOUND", f"There is no token {token_id} that could be changed.")
