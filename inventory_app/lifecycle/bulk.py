"""import_products: many products at once, with their tasks, in a few statements and one transaction."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from django_punctual import InvalidTask, checked_instant
from inventory_app.errors import InvalidProduct
from inventory_app.events import ADDED, tell
from inventory_app.models import CODE_LENGTH, MOST, NAME_LENGTH

from .products import checked, schedule_syncs


class NewProduct(NamedTuple):
    """A product as it is imported, checked; with a quantity it comes with the moment that it is from."""

    code: str
    name: str
    quantity: int | None = None
    synced_at: datetime | None = None

    @classmethod
    def of(cls, code: str, name: str, quantity: int | None = None, synced_at: datetime | None = None) -> "NewProduct":
        """Checked: raises InvalidProduct, which names the value and the rule."""
        code, name = checked("code", code, CODE_LENGTH), checked("name", name, NAME_LENGTH)
        if (quantity is None) != (synced_at is None):
            raise InvalidProduct(
                f"product {code[:60]!r} has only one of quantity and sync date; give both, or neither."
            )
        if quantity is not None and (type(quantity) is not int or not 0 <= quantity <= MOST):
            raise InvalidProduct(f"quantity {quantity!r} won't do; it must be a whole number, 0 or more.")
        try:
            synced_at = None if synced_at is None else checked_instant("synced_at", synced_at)
        except InvalidTask as error:
            raise InvalidProduct(str(error)) from None
        return cls(code, name, quantity, synced_at)


class Imported(NamedTuple):
    added: int
    known: int  # were there already: renamed, and their quantity written if it is newer


# Rows come in the order in which the handler locks them, so that an import and a batch can't deadlock. A sync date in
# the future is a wrong clock; taken as it is, no answer would ever be newer.
_IMPORT = """
WITH written AS (
    INSERT INTO product AS p (product_code, name, stock_quantity, stock_synced_at)
    SELECT one ->> 0, one ->> 1, (one ->> 2)::bigint,
           CASE WHEN one ->> 3 IS NOT NULL THEN least((one ->> 3)::timestamptz, clock_timestamp()) END
    FROM jsonb_array_elements(%s::jsonb) AS given(one)
    ON CONFLICT (product_code) DO UPDATE
    SET name = excluded.name,
        stock_quantity = CASE WHEN {newer} THEN excluded.stock_quantity ELSE p.stock_quantity END,
        stock_synced_at = CASE WHEN {newer} THEN excluded.stock_synced_at ELSE p.stock_synced_at END
    RETURNING product_code, xmax = 0 AS new
)
SELECT product_code FROM written WHERE new
""".format(
    newer="excluded.stock_synced_at IS NOT NULL AND excluded.stock_synced_at > coalesce(p.stock_synced_at, '-infinity')"
)


def import_products(products: Sequence[NewProduct]) -> Imported:
    """New ones with their tasks, known ones renamed. Of a code that is given twice, the later one counts."""
    last = {product.code: product for product in products}
    if not last:
        return Imported(0, 0)
    rows = sorted(last.values(), key=lambda product: (len(product.code), product.code))
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_IMPORT, [_as_json(rows)])
            new = [code for (code,) in cursor.fetchall()]
        schedule_syncs((code, last[code].synced_at) for code in new)
        tell(ADDED, new, [{"code": code, "name": last[code].name} for code in new])
    return Imported(len(new), len(last) - len(new))


def _as_json(rows: Sequence[NewProduct]) -> str:
    """All rows as one text: adapting four arrays of thousands of values takes longer than writing them."""
    return json.dumps(rows, default=datetime.isoformat)
