"""Document 003: the stock of products."""

from tests.requirements.mutants import Mutant

SETTLE = "tasks_app/sql/settle"
PRODUCTS = "inventory_app/lifecycle/products.py"
SCAN = "inventory_app/compensation.py"

MUTANTS = [
    Mutant(
        "003 §1 the quantity is written",
        "inventory_app/handlers.py",
        "UPDATE product SET stock_quantity = %s, stock_synced_at",
        "UPDATE product SET stock_quantity = 1 + %s, stock_synced_at",
    ),
    Mutant(
        "003 §2 a new product gets a task",
        PRODUCTS,
        "        schedule_syncs([(code, None)])\n",
        "",
    ),
    Mutant(
        "003 §2 a removed product loses its task",
        PRODUCTS,
        '        cancel(STOCK_SYNC, code, reason=f"the product was removed by {actor}", by=INVENTORY)\n',
        "",
    ),
    Mutant(
        "003 §2 the scan adds",
        SCAN,
        "            schedule_syncs([(code, products[code]) for code in mend])\n",
        "            pass\n",
    ),
    Mutant(
        "003 §2 the scan removes",
        SCAN,
        "    for key in sorted(keys):\n        if _is_product(key):",
        "    for key in sorted(keys):\n        if key:",
    ),
    Mutant(
        "003 §2 a new product comes first",
        PRODUCTS,
        'left_over = _schedule([{"key": code} for code in never], window, at=first)',
        'left_over = _schedule([{"key": code} for code in never], window)',
    ),
    Mutant(
        "003 §2 10 days",
        "inventory_app/conf.py",
        "WINDOW_SECONDS: float = 10 * 86_400.0",
        "WINDOW_SECONDS: float = 11 * 86_400.0",
    ),
    Mutant(
        "003 §2 a success rolls",
        f"{SETTLE}/mark_success.sql",
        "                         + t.repeat_after AS moment",
        "                         + 2 * t.repeat_after AS moment",
    ),
    Mutant(
        "003 §2 a failure rolls",
        f"{SETTLE}/mark_fail.sql",
        "g.ended + t.repeat_after AS roll",
        "g.ended + 2 * t.repeat_after AS roll",
    ),
    Mutant(
        "003 §2 a failure does not end the rolling",
        f"{SETTLE}/mark_fail.sql",
        "last AND t.repeat_after IS NULL THEN 'DEAD'",
        "last THEN 'DEAD'",
    ),
    Mutant(
        "003 §2 spread over what is left of the window",
        "inventory_app/lifecycle/spread.py",
        "left = min(synced_at, now) + window - now",
        "left = window",
    ),
    Mutant("003 §2 1,000 products", "inventory_app/conf.py", "BATCH_MAX: int = 1_000", "BATCH_MAX: int = 2_000"),
    Mutant(
        "003 §2 finish_time of a success",
        f"{SETTLE}/mark_success.sql",
        "finish_time = (SELECT started_at FROM b)",
        "finish_time = t.finish_time + (SELECT started_at - started_at FROM b)",
    ),
    Mutant(
        "003 §2 finish_time of a failure",
        f"{SETTLE}/mark_fail.sql",
        "finish_time = b.started_at + g.ended,",
        "finish_time = t.finish_time,",
    ),
    Mutant("003 §2 the remark of a failure", f"{SETTLE}/mark_fail.sql", "error_msg = g.message,", "error_msg = '',"),
    Mutant("003 §2 404", "inventory_app/stock.py", "GONE = (404, 410)", "GONE = (410,)"),
    Mutant("003 §2 a failure that may pass", "inventory_app/handlers.py", "max_retry=250,", "max_retry=0,"),
    Mutant(
        "003 §3 a batch number of its own",
        "tasks_app/sql/claim/claim.sql",
        "SELECT gen_random_uuid() batch_no,",
        "SELECT md5(ids::text)::uuid batch_no,",
    ),
]
