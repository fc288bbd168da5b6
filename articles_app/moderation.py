"""Asks the moderation service for its verdict on a text, or the local rule list where there is no service.

The contract: POST {"article", "content_revision", "title", "body"} with an Idempotency-Key; the answer is 200 with
{"verdict": "approve"} or {"verdict": "reject", "reason": "..."}.
"""

import json
import logging
import os
from functools import cache
from typing import NamedTuple

import httpx

from django_punctual import RetryableError, UnrecoverableError

from .conf import Conf, conf
from .deadline import client, deadline

log = logging.getLogger(__name__)

REASON_SHOWN = 1_000
BUSY = (408, 425, 429)  # try again later, says the service itself


class Verdict(NamedTuple):
    approved: bool
    reason: str = ""


def ask(article_id: int, content_revision: int, title: str, body: str, *, token: str) -> Verdict:
    """A clear verdict, or the error that says whether asking again can help."""
    settings = conf()
    if not settings.MODERATION_URL:
        return _local_verdict(settings, title, body)
    question = {"article": article_id, "content_revision": content_revision, "title": title, "body": body}
    # The token stays the same over retries; another text is another question.
    headers = {"Idempotency-Key": f"{token}-{content_revision}"}
    if settings.MODERATION_TOKEN:
        headers["Authorization"] = f"Bearer {settings.MODERATION_TOKEN}"
    try:
        status, retry_after, answer = _call(settings, question, headers)
    except httpx.TimeoutException as error:
        raise RetryableError(
            f"the moderation service did not answer in time: {error!r}", code="MODERATION_TIMEOUT"
        ) from None
    except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise UnrecoverableError(f"MODERATION_URL can't be used: {error}", code="MODERATION_URL") from None
    except httpx.RequestError as error:
        raise RetryableError(
            f"the moderation service can't be reached: {error!r}", code="MODERATION_UNREACHABLE"
        ) from None
    _refuse_status(status, retry_after, answer, settings)
    return _read(answer)


def _call(settings: Conf, question: dict[str, object], headers: dict[str, str]) -> tuple[int, str, bytes]:
    timeout = httpx.Timeout(settings.READ_SECONDS, connect=settings.CONNECT_SECONDS)
    with deadline(settings.TOTAL_SECONDS):
        with _client(os.getpid()).stream(
            "POST", settings.MODERATION_URL, json=question, headers=headers, timeout=timeout
        ) as response:
            answer = bytearray()
            for chunk in response.iter_bytes():
                answer += chunk
                if len(answer) > settings.ANSWER_MAX_BYTES:
                    raise RetryableError(
                        f"the moderation service answered with more than {settings.ANSWER_MAX_BYTES:,} bytes",
                        code="MODERATION_MALFORMED",
                    )
            return response.status_code, response.headers.get("Retry-After", ""), bytes(answer)


@cache
def _client(pid: int) -> httpx.Client:
    """One for each process: a forked child must not share its parent's sockets."""
    return client(follow_redirects=False)


def _refuse_status(status: int, retry_after: str, answer: bytes, settings: Conf) -> None:
    if status == 200:
        return
    words = f"the moderation service answered {status}: {_shown(answer)}"
    if status in BUSY or status >= 500:
        after = min(float(retry_after), settings.RETRY_AFTER_MAX_SECONDS) if retry_after.isdecimal() else None
        raise RetryableError(words, code=f"MODERATION_{status}", after=after)
    if 200 <= status < 300:
        raise RetryableError(words, code="MODERATION_MALFORMED")
    # A wrong address, a wrong token, a question it doesn't understand: a person has to change something.
    raise UnrecoverableError(
        f"{words}. Check MODERATION_URL and MODERATION_TOKEN, then replay.", code=f"MODERATION_{status}"
    )


def _read(answer: bytes) -> Verdict:
    try:
        told = json.loads(answer)
    except (ValueError, RecursionError):
        told = None
    verdict = told.get("verdict") if isinstance(told, dict) else None
    if verdict == "approve":
        return Verdict(True)
    if verdict == "reject":
        reason = told.get("reason")
        reason = reason.strip().replace("\0", "") if isinstance(reason, str) else ""
        return Verdict(False, reason.encode(errors="replace").decode()[:REASON_SHOWN] or "rejected without a reason")
    raise RetryableError(f"the moderation service gave no verdict: {_shown(answer)}", code="MODERATION_MALFORMED")


def _local_verdict(settings: Conf, title: str, body: str) -> Verdict:
    _say_once(os.getpid())
    text = f"{title}\n{body}".casefold()
    found = [word for word in settings.FORBIDDEN_WORDS if word.casefold() in text]
    return Verdict(False, f"contains {found[0]!r}") if found else Verdict(True)


@cache
def _say_once(pid: int) -> None:
    log.warning("moderation.local words=%d reason='MODERATION_URL is not set'", len(conf().FORBIDDEN_WORDS))


def _shown(answer: bytes) -> str:
    return repr(answer[:200].decode(errors="replace"))
