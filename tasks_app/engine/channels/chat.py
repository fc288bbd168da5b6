"""A chat: the JSON body that Slack's incoming webhooks take; so do Mattermost's, Rocket.Chat's and Google Chat's."""

from typing import Any
from uuid import UUID

from tasks_app.lifecycle.alarms.channels import Target

from .posting import as_bytes, posted
from .sent import Sent

_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})  # all that Slack asks for: no name is called out


def send_chat(target: Target, alert: UUID, body: dict[str, Any]) -> Sent:
    text = f"*{body['title']}*\n{body['text']}"
    return posted(target.url, as_bytes({"text": text.translate(_ESCAPED)}), {})
