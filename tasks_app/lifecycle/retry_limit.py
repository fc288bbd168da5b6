"""How often people and programs may have the same things retried: a loop around a retry is no way to mend anything."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tasks_app.core.errors import RetryLimited
from tasks_app.models import Campaign
from tasks_app.sql import array, run

RETRIES_A_MINUTE = 5  # of one task
ORDERS_A_MINUTE = 10  # to retry many, for one tenant


def retried_too_often(task_ids: Sequence[int]) -> set[int]:
    """Those that were retried RETRIES_A_MINUTE times within the last minute, one by one or with others."""
    asked = {"ids": array(task_ids), "most": RETRIES_A_MINUTE, "seconds": RetryLimited.retry_after}
    return {id_ for (id_,) in run("retried_lately", asked)} if task_ids else set()


def refuse_many_orders(kinds: Sequence[str], tenant: str | None) -> None:
    """RetryLimited if as many orders of these kinds as may be were given for the tenant within the last minute."""
    given = Campaign.objects.filter(kind__in=kinds, tenant=tenant).order_by("-id").values_list("created_at", flat=True)
    last: list[datetime] = list(given[:ORDERS_A_MINUTE])
    now = run("clock", {})[0][0]
    if len(last) == ORDERS_A_MINUTE and last[-1] > now - timedelta(seconds=RetryLimited.retry_after):
        whose = "" if tenant is None else f" of tenant {tenant!r}"
        raise RetryLimited(
            f"{ORDERS_A_MINUTE} orders to retry many tasks{whose} were given within a minute. "
            "Give one order for all of them, or wait."
        )
