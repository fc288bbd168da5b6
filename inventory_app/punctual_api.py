"""/stock of the REST API: products with their stock and next sync, and the window. Reads only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Schema
from pydantic import Field
from pydantic.config import JsonDict

from django_punctual import TaskInfo, find_many
from django_punctual.endpoints import PAGE, Cursor, Limit, Next, NotThere, Text, caller, may_answer, register_router

from .lifecycle import current_window
from .models import CODE_LENGTH, Product
from .units import STOCK_SYNC, TENANT

router = Router(tags=["stock"])
_EXAMPLE: JsonDict = {
    "code": "SKU 4711",
    "name": "A lamp",
    "quantity": 12,
    "synced_at": "2027-03-01T08:00:00Z",
    "next_sync_at": "2027-03-11T08:00:00Z",
    "failures": 0,
    "created_at": "2027-02-01T12:30:00Z",
}


class ProductOut(Schema):
    model_config = {"json_schema_extra": {"examples": [_EXAMPLE]}}

    code: str
    name: str
    quantity: int | None = Field(description="Null: never synced")
    synced_at: datetime | None
    next_sync_at: datetime | None = Field(
        description="Null: it is being synced, was put aside, or nothing is scheduled"
    )
    failures: int = Field(description="Since the last sync that succeeded")
    created_at: datetime

    @classmethod
    def of(cls, product: Product, task: TaskInfo | None) -> "ProductOut":
        return cls(
            code=product.product_code,
            name=product.name,
            quantity=product.stock_quantity,
            synced_at=product.stock_synced_at,
            next_sync_at=None if task is None or task.aside else task.due_at,
            failures=task.attempt if task else 0,
            created_at=product.created_at,
        )


class ProductPage(Schema):
    model_config = {"json_schema_extra": {"examples": [{"items": [_EXAMPLE], "next": "SKU 4711"}]}}

    items: list[ProductOut]
    next: Next


class WindowOut(Schema):
    model_config = {"json_schema_extra": {"examples": [{"seconds": 864000.0, "applied": True, "changed_by": ""}]}}

    seconds: float = Field(description="How long after its last sync a product is synced again")
    applied: bool = Field(description="False: some tasks still go by the previous window")
    changed_by: str = Field(description="Empty: it is what the settings say")


@router.get("/products", response=ProductPage, summary="List products, by code")
@may_answer("SCH_404_NOT_FOUND")
def list_products(
    request: HttpRequest,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    _refuse_others(request)
    rows = Product.objects.order_by("product_code")
    found = list((rows if after is None else rows.filter(product_code__gt=after))[: limit + 1])
    more = found[limit - 1].product_code if len(found) > limit else None
    return {"items": _told(found[:limit]), "next": more}


@router.get("/products/{path:product_code}", response=ProductOut, summary="Read a product")
def read_product(request: HttpRequest, product_code: Annotated[Text, Path()]) -> ProductOut:
    _refuse_others(request)
    product = Product.objects.filter(product_code=product_code).first()
    if product is None:
        raise NotThere(f"There is no product {product_code[:CODE_LENGTH]!r}.")
    return _told([product])[0]


@router.get("/window", response=WindowOut, summary="How often each product is synced")
@may_answer("SCH_404_NOT_FOUND")
def read_window(request: HttpRequest) -> WindowOut:
    _refuse_others(request)
    window = current_window()
    return WindowOut(seconds=window.length.total_seconds(), applied=window.applied, changed_by=window.changed_by)


def _refuse_others(request: HttpRequest) -> None:
    """The stock is the internal tenant's; people need the right to see products, too."""
    asked = caller(request)
    barred = asked.is_person and not request.user.has_perm("inventory_app.view_product")
    if asked.tenant != TENANT or not asked.may_see(STOCK_SYNC) or barred:
        raise NotThere(f"There is no stock of tenant {asked.tenant!r} that you may see.")


def _told(products: Sequence[Product]) -> list[ProductOut]:
    tasks = find_many([STOCK_SYNC], [product.product_code for product in products])
    return [ProductOut.of(product, tasks.get((STOCK_SYNC, product.product_code))) for product in products]


register_router("/stock", router, tag="stock", says="Products, and how many of each another system has in stock")
