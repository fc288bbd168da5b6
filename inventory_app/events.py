"""What others hear of products: which there are. That one was synced is told by its task, `task.succeeded`."""

from collections.abc import Collection, Sequence
from typing import Any

from django_punctual import emit, emit_many
from django_punctual.events import declare_kind

from .units import STOCK_SYNC, TENANT

_CODE = {"code": {"type": "string", "description": "The product's code."}}
_NAME = {"name": {"type": "string", "description": "Its name."}}
_ACTOR = {"actor": {"type": "string", "description": "Who did it."}}
_EXAMPLE = {"code": "SKU-1", "name": "Kettle"}


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields)}


ADDED = declare_kind("product.added", "There is a new product.", _object(_CODE | _NAME), _EXAMPLE).name
RENAMED = declare_kind("product.renamed", "A product has another name.", _object(_CODE | _NAME), _EXAMPLE).name
REMOVED = declare_kind(
    "product.removed", "A product is gone.", _object(_CODE | _ACTOR), {"code": "SKU-1", "actor": "ivan"}
).name
WINDOW_CHANGED = declare_kind(
    "product.window_changed",
    "Every product is to be synced again after another time.",
    _object({"seconds": {"type": "number", "description": "After its last sync."}} | _ACTOR),
    {"seconds": 864000.0, "actor": "ivan"},
).name


def tell(event: str, codes: Collection[str], payloads: Sequence[dict[str, Any]]) -> None:
    """In the transaction of the change, by whoever holds the products' locks."""
    if codes:
        emit_many(event, payloads, tenant=TENANT, task_type=STOCK_SYNC, keys=list(codes))


def tell_window(seconds: float, actor: str) -> None:
    emit(WINDOW_CHANGED, {"seconds": seconds, "actor": actor}, tenant=TENANT)
