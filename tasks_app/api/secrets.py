"""/secrets: what callbacks refer to by name. It can be set and deleted here, and never read."""

from datetime import datetime
from typing import Annotated, ClassVar, Self

from django.http import HttpRequest
from ninja import Path, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Text
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations.callers import Caller
from tasks_app.lifecycle import secret_verbs
from tasks_app.models import Secret

from .auth import caller
from .idempotency import mutation
from .jobs import operator
from .schemas import Key, Model, Page, id_of

router = Router(tags=["secrets"])
Named = Annotated[Text, Path()]


class NamedSecretIn(Model):
    """What it is from now on."""

    flags: ClassVar[tuple[str, ...]] = ("keep_old",)

    value: Text | None = Field(None, description="Left out: one that signs is made, and told in this answer alone")
    hosts: list[Text] | None = Field(
        None, description="The only hosts it may be sent to; left out: as it is, or anywhere"
    )
    keep_old: bool = Field(False, description="The old value signs, too, until it is withdrawn")
    reason: Text | None = Field(None, description="Why; kept in the audit")


class NamedSecretOut(Schema):
    """A secret, without its value."""

    id: int
    name: str
    signs: bool = Field(description="It signs callbacks; otherwise it is sent in a header")
    hosts: list[str] = Field(description="The only hosts it may be sent to; empty: any")
    values: int = Field(description="More than one while the old one is kept")
    created_by: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: Secret, **more: object) -> Self:
        plain = {name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)}
        return cls(**plain | {"values": len(row.values)} | more)


class NamedSecretMade(NamedSecretOut):
    """A secret, and its value if it was made here."""

    made: str | None = Field(description="Shown this once; null if a value was given")


class NamedSecretPage(Page):
    items: list[NamedSecretOut]


@router.get("", response=NamedSecretPage, summary="List the secrets of callbacks, without their values")
@may_answer("SCH_403_TYPE_CLOSED")
def list_secrets(request: HttpRequest, after: Cursor = None, limit: Limit = PAGE) -> dict[str, object]:
    rows = Secret.objects.filter(tenant=_who_may(request).tenant, id__gt=0 if after is None else id_of(after))
    found = list(rows.order_by("id")[: limit + 1])
    more = str(found[limit - 1].id) if len(found) > limit else None
    return {"items": [NamedSecretOut.of(row) for row in found[:limit]], "next": more}


@router.put("/{name}", response=NamedSecretMade, summary="Set a secret that callbacks refer to")
@may_answer("SCH_403_TYPE_CLOSED")
def set_secret(request: HttpRequest, name: Named, body: NamedSecretIn) -> NamedSecretMade:
    """Takes no Idempotency-Key: its answer may have a value, which is stored nowhere in the clear."""
    kept = secret_verbs.set_secret(
        name,
        operator(request, body.reason),
        tenant=_who_may(request).tenant,
        value=body.value,
        hosts=body.hosts,
        keep_old=body.keep_old,
    )
    return NamedSecretMade.of(kept.row, made=kept.made)


@router.post("/{name}/withdraw", response=NamedSecretOut, summary="Withdraw the old values of a secret")
@may_answer("SCH_403_TYPE_CLOSED")
@mutation
def withdraw_secret(request: HttpRequest, name: Named, idempotency_key: Key = None) -> tuple[int, NamedSecretOut]:
    tenant = _who_may(request).tenant
    secret_verbs.withdraw(name, operator(request), tenant=tenant)
    return 200, NamedSecretOut.of(Secret.objects.get(tenant=tenant, name=name))


@router.delete("/{name}", response={204: None}, summary="Delete a secret")
@may_answer("SCH_403_TYPE_CLOSED")
@mutation
def delete_secret(request: HttpRequest, name: Named, idempotency_key: Key = None) -> tuple[int, None]:
    """Callbacks that refer to it fail from then on."""
    secret_verbs.delete(name, operator(request), tenant=_who_may(request).tenant)
    return 204, None


def _who_may(request: HttpRequest) -> Caller:
    asked = caller(request)
    if not asked.may_keep_secrets:
        asked.refuse_closed_type(HTTP_CALLBACK)
    return asked
