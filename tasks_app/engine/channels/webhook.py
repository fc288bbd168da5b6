"""A webhook: the alert as JSON, signed after the Standard Webhooks scheme; its id stays the same over retries."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from standardwebhooks import Webhook

from tasks_app.lifecycle.alarms.channels import Target

from .posting import as_bytes, posted
from .sent import Sent


def send_webhook(target: Target, alert: UUID, body: dict[str, Any]) -> Sent:
    sent, now = as_bytes({"id": str(alert), **body}), datetime.now(UTC)
    headers = {
        "webhook-id": str(alert),
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(target.secret).sign(str(alert), now, sent.decode()),
    }
    return posted(target.url, sent, headers)
