"""Asks the stock system for the quantity of one product.

The contract: GET <STOCK_URL>/<code>; the answer is 200 with {"quantity": 7}. Whatever else it answers is told apart:

not found      STOCK_NOT_FOUND     404, 410: there is no such product there. Asked again in the next window.
refused        STOCK_REFUSED       another 3xx or 4xx: a wrong address or token. Asked again in the next window.
malformed      STOCK_MALFORMED     200, but no JSON object with a quantity, or a body without end. Three tries; in an
                                   outage as many as for one that is unavailable.
too busy       STOCK_BUSY          429: asked again after Retry-After, and ever later.
unavailable    STOCK_UNAVAILABLE   5xx, 408, 425, or it can't be reached. Asked again, ever later.
silent         STOCK_TIMEOUT       no whole answer within TIMEOUT_SECONDS. The same.
"""

import http.client
import json
import os
from functools import cache
from urllib.parse import quote, urlsplit

from django_punctual import Backoff, RetryableError, UnrecoverableError

from .conf import Conf, conf
from .connections import Answer, Pool, TooLong
from .models import MOST

NOT_FOUND, REFUSED, MALFORMED = "STOCK_NOT_FOUND", "STOCK_REFUSED", "STOCK_MALFORMED"
BUSY, UNAVAILABLE, TIMEOUT = "STOCK_BUSY", "STOCK_UNAVAILABLE", "STOCK_TIMEOUT"
MALFORMED_TRIES = 3
GONE = (404, 410)
LATER = (408, 425)


def ask(code: str, attempt: int = 1) -> int:
    """The quantity, or the error that says whether asking again soon can help."""
    settings = conf()
    if not settings.STOCK_URL:
        raise RetryableError("STOCK_URL is not set, so there is nobody to ask. Set it.", code=UNAVAILABLE)
    try:
        answer = _get(settings, code)
    except TimeoutError:
        raise RetryableError(f"no answer within {settings.TIMEOUT_SECONDS:g} s", code=TIMEOUT) from None
    except TooLong:
        raise _malformed(f"more than {settings.ANSWER_MAX_BYTES:,} bytes", attempt) from None
    except (OSError, http.client.HTTPException) as error:
        raise RetryableError(f"the stock system can't be reached: {error!r}", code=UNAVAILABLE) from None
    _refuse_status(answer, code, attempt, settings)
    return _quantity(answer.body, attempt)


def backoff(settings: Conf) -> Backoff:
    """Ever later, but every RETRY_MAX_SECONDS at least."""
    return Backoff(base=1.0, doublings=12, jitter=(0.0, 1.0), cap=settings.RETRY_MAX_SECONDS)


def _get(settings: Conf, code: str) -> Answer:
    pool, path = _pool(settings.STOCK_URL, os.getpid())
    headers = {"Accept": "application/json"}
    if settings.STOCK_TOKEN:
        headers["Authorization"] = f"Bearer {settings.STOCK_TOKEN}"
    return pool.get(
        f"{path}/{quote(code, safe='')}", headers, seconds=settings.TIMEOUT_SECONDS, most=settings.ANSWER_MAX_BYTES
    )


@cache
def _pool(url: str, pid: int) -> tuple[Pool, str]:
    """One for each process: a forked child must not share its parent's sockets."""
    return Pool(url), urlsplit(url).path.rstrip("/")


def _refuse_status(answer: Answer, code: str, attempt: int, settings: Conf) -> None:
    status, words = answer.status, f"the stock system answered {answer.status}: {_shown(answer.body)}"
    if status == 200:
        return
    if status in GONE:
        raise UnrecoverableError(f"the stock system doesn't know product {code!r} ({status})", code=NOT_FOUND)
    if status == 429:
        raise RetryableError(words, code=BUSY, after=_retry_after(answer, attempt, settings))
    if status >= 500 or status in LATER:
        raise RetryableError(words, code=UNAVAILABLE, after=_retry_after(answer, attempt, settings))
    raise UnrecoverableError(f"{words}. Check STOCK_URL and STOCK_TOKEN.", code=REFUSED)


def _retry_after(answer: Answer, attempt: int, settings: Conf) -> float | None:
    """In seconds, as most give it; a date is not read, and the back-off decides then.

    Not before the back-off either: one that says "in a second" for minutes would use up all tries of a window.
    """
    text = (answer.headers.get("Retry-After") or "").strip()
    if not (text.isascii() and text.isdecimal()):
        return None
    return max(min(float(text), settings.RETRY_MAX_SECONDS), backoff(settings).delay(attempt))


def _quantity(body: bytes, attempt: int) -> int:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        told = None
    quantity = told.get("quantity") if isinstance(told, dict) else None
    if isinstance(quantity, bool) or not isinstance(quantity, int) or not 0 <= quantity <= MOST:
        raise _malformed(_shown(body), attempt)
    return quantity


def _malformed(words: str, attempt: int) -> Exception:
    """A proxy's page in place of an answer goes away soon; a system that speaks another language does not.

    Later tries come only after failures of another kind: then the page is a part of an outage, and goes away with it.
    """
    error = UnrecoverableError if attempt == MALFORMED_TRIES else RetryableError
    return error(f"the stock system gave no quantity: {words}", code=MALFORMED)


def _shown(body: bytes) -> str:
    return repr(body[:200].decode(errors="replace"))
