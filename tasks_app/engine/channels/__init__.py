"""How an alert gets to where a channel leads: one function for each kind. Every call ends, and says what came of it."""

from typing import Any
from uuid import UUID

from tasks_app.core.alarms import ChannelKind
from tasks_app.lifecycle.alarms.channels import Target

from .chat import send_chat
from .mail import send_mail
from .sent import NotSent, Sent
from .webhook import send_webhook

__all__ = ["NotSent", "Sent", "send"]

_SENDERS = {ChannelKind.WEBHOOK: send_webhook, ChannelKind.CHAT: send_chat, ChannelKind.EMAIL: send_mail}


def send(kind: str, target: Target, alert: UUID, body: dict[str, Any]) -> Sent:
    """Raises NotSent: nobody took it, or nobody knows."""
    return _SENDERS[ChannelKind(kind)](target, alert, body)
