"""The real example stock service as a process of its own, and short words for tests about products."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from django.db import connection
from django.utils import timezone

from django_punctual import TaskInfo, find
from inventory_app.lifecycle import NewProduct, import_products
from inventory_app.models import Product
from inventory_app.units import STOCK_SYNC
from tasks_app.engine.worker.executor import BatchReport, run_batch
from tests.support.engine import claim_due, make_due

SERVICE = Path(__file__).resolve().parent.parent.parent / "examples" / "stock_service.py"
ANN = "ann"


class StockService:
    def __init__(self, url: str) -> None:
        self.url = url

    def switch(self, **wanted: object) -> dict:
        return self._request("/switch", wanted)

    def told(self) -> dict:
        return self._request("/switch")

    def asked(self) -> dict:
        """How often each code was answered with a quantity, and the busiest second."""
        return self._request("/asked")

    def count(self, code: str, quantity: int) -> None:
        self._request("/count", {"code": code, "quantity": quantity})

    def _request(self, path: str, data: dict | None = None) -> dict:
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(self.url.replace("/stock", path), body)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


@contextmanager
def stock_service(**switches: object) -> Iterator[StockService]:
    process = subprocess.Popen(
        [sys.executable, str(SERVICE), "--port", "0"],
        env=os.environ | {"STOCK_SWITCH": json.dumps(switches)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield StockService(process.stdout.readline().split()[-1])
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def task_of(code: str) -> TaskInfo | None:
    return find(STOCK_SYNC, code)


def product(code: str) -> Product:
    return Product.objects.get(product_code=code)


def known(code: str, synced_at: datetime | None = None, quantity: int = 7) -> NewProduct:
    return NewProduct.of(code, f"Product {code}", quantity, synced_at or timezone.now())


def many(number: int) -> list[str]:
    """So many products, never synced; their codes."""
    codes = [f"P{n:06}" for n in range(number)]
    import_products([NewProduct.of(code, f"Product {code}") for code in codes])
    return codes


def claim_product(code: str) -> UUID:
    """Its task, due and claimed."""
    make_due(task_of(code).id)
    [batch] = claim_due()
    return UUID(batch.batch_no)


def run(number: UUID) -> BatchReport:
    return run_batch(number, guarded=False)


def aged(code: str, by: timedelta) -> None:
    """The product's stock is from so long ago."""
    Product.objects.filter(product_code=code).update(stock_quantity=1, stock_synced_at=timezone.now() - by)


def log_writes() -> None:
    """From now on every write of a quantity leaves a row in stock_write, whoever makes it."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            CREATE TABLE stock_write (code text, asked timestamptz, written timestamptz DEFAULT clock_timestamp());
            CREATE FUNCTION stock_was_written() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO stock_write VALUES (NEW.product_code, NEW.stock_synced_at);
                RETURN NULL;
            END $$;
            CREATE TRIGGER stock_was_written AFTER UPDATE OF stock_quantity ON product
                FOR EACH ROW EXECUTE FUNCTION stock_was_written();
            """
        )


def forget_writes() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS stock_write; DROP FUNCTION IF EXISTS stock_was_written CASCADE")


def ask(statement: str, *params: object) -> tuple:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchone()
