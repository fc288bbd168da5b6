"""Mail, the way the project sends it: Django's MAILERS or EMAIL_BACKEND. Its Message-ID is the alert's, the same at
every try."""

import time
from typing import Any
from uuid import UUID

from django.core import mail
from django.core.mail import EmailMessage

from tasks_app.core.phrases import first_line
from tasks_app.core.text import visible
from tasks_app.lifecycle.alarms.channels import Target

from .sent import NotSent, Sent

TIMEOUT_SECONDS = 10.0
ERROR_LENGTH = 300


def send_mail(target: Target, alert: UUID, body: dict[str, Any]) -> Sent:
    began = time.monotonic()
    try:
        connection = _connection()
        if getattr(connection, "timeout", 0) is None:
            connection.timeout = TIMEOUT_SECONDS  # the project sets none: without one it would wait for ever
        connection.send_messages([_message(target, alert, body)])
    except Exception as error:  # whatever a backend raises: smtplib's, a service's own, the system's
        words = first_line(str(error)) or type(error).__name__
        raise NotSent(f"The mail was not accepted: {visible(words)[:ERROR_LENGTH]}") from error
    return Sent("the mail server took it", (time.monotonic() - began) * 1_000)


def _connection() -> Any:
    """Before Django 6.1 there is no MAILERS."""
    return mail.mailers.default if hasattr(mail, "mailers") else mail.get_connection()


def _message(target: Target, alert: UUID, body: dict[str, Any]) -> EmailMessage:
    return EmailMessage(
        subject=f"[Punctual] {visible(body['title'])}",
        body=f"{body['text']}\n",
        to=list(target.to),
        headers={
            "Message-ID": f"<{alert}@punctual.invalid>",
            "Auto-Submitted": "auto-generated",
            "X-Auto-Response-Suppress": "All",
        },
    )
