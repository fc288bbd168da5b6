"""Posting JSON through the guarded client, for webhooks and chats."""

import json
from collections.abc import Mapping

from tasks_app.core.text import visible
from tasks_app.outgoing import Refused, Unreachable, post

from .sent import NotSent, Sent

TIMEOUT_SECONDS = 10.0
ANSWER_SHOWN = 200  # characters


def posted(url: str, body: bytes, headers: Mapping[str, str]) -> Sent:
    """Any answer from 200 to 299 means that it was taken. Raises NotSent."""
    try:
        answer = post(url, body, {"Content-Type": "application/json", **headers}, timeout=TIMEOUT_SECONDS)
    except (Refused, Unreachable) as error:
        raise NotSent(str(error)) from None
    if 200 <= answer.status < 300:
        return Sent(f"answered {answer.status}", answer.ms)
    said = visible(answer.body_start.decode(errors="replace"))[:ANSWER_SHOWN].strip()
    raise NotSent(f"It answered {answer.status}{': ' + said if said else '.'}", answer.retry_after)


def as_bytes(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
