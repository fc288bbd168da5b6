"""A thousand jobs, too many of them at midnight."""

from collections.abc import Iterator

from django.db import transaction

from django_punctual.jobs import JobRequest, create_job
from pictures.stack import Stack

from .people import olga

# How many, their name, type, cron string and lane.
JOBS = (
    (25, "payments of branch", "PAYMENT_CHECK", "*/5 * * * *", "critical"),
    (90, "prices of supplier", "PRICE_UPDATE", "0 * * * *", "default"),
    (40, "ledger of branch", "LEDGER_CLOSE", "0 0 * * *", "high"),
    (260, "sales report of branch", "REPORT_BUILD", "0 0 * * *", "low"),
    (120, "stock list for partner", "REPORT_BUILD", "0 0 * * *", "backfill"),
    (150, "morning letter to group", "NEWSLETTER_SEND", "0 7 * * *", "high"),
    (70, "clean-up of branch", "REPORT_BUILD", "0 2 * * *", "low"),
    *((12, f"offers at {hour}, shelf", "PRICE_UPDATE", f"20 {hour} * * *", "default") for hour in range(8, 21)),
    *((8, f"parcels at {hour}, depot", "ORDER_MAIL", f"40 {hour} * * MON-FRI", "default") for hour in range(6, 20)),
)


def jobs(stack: Stack) -> Iterator[None]:
    yield
    with transaction.atomic():
        for count, name, task_type, cron, lane in JOBS:
            for n in range(1, count + 1):
                request = JobRequest(f"{name} {n}", task_type, {}, cron=cron, lane=lane)
                create_job(request, olga("the shop opens"), tenant="default")
