"""The handlers of a shop that sends invoices and mails, builds reports and asks others for prices."""

import os
import time

from django_punctual import RetryableError, Task, UnrecoverableError, handler


@handler("INVOICE_SEND", timeout=30, backoff=[60, 300])
def send_invoice(task: Task) -> str:
    if task.payload.get("account") is None:
        raise UnrecoverableError("no such account", code="NO_ACCOUNT")
    if os.path.exists(os.environ["MAIL_DOWN"]):  # a file that scenes make and remove
        raise RetryableError("the mail server does not answer", code="MAIL_DOWN", tags=["mail"])
    time.sleep(0.05)
    return "sent"


@handler("ORDER_MAIL", timeout=30, backoff=[600, 1800])
def confirm_order(task: Task) -> None:
    if task.payload.get("bounces"):
        raise RetryableError("the mail provider answered 421: too many connections", code="SMTP_421")


@handler("STOCK_PUSH", timeout=30, backoff=[30])
def push_stock(task: Task) -> None:
    raise RetryableError("the warehouse answered 503", code="HTTP_503", tags=["warehouse"])


@handler("REPORT_BUILD", timeout=3600, lane="low")
def build_report(task: Task) -> dict[str, int]:
    pages = task.payload.get("pages", 0)
    for page in range(pages):
        task.check_cancelled()
        task.progress(page / pages, f"page {page + 1} of {pages}")
        time.sleep(1)
    return {"pages": pages}


@handler("PAYMENT_CHECK", lane="critical")
def check_payments(task: Task) -> None:
    """Has anybody paid?"""


@handler("PRICE_UPDATE")
def update_prices(task: Task) -> None:
    """What do others take for it?"""


@handler("NEWSLETTER_SEND", lane="high")
def send_newsletter(task: Task) -> None:
    """To all who asked for it."""


@handler("LEDGER_CLOSE", lane="high")
def close_ledger(task: Task) -> None:
    """Of one branch, for the day."""
