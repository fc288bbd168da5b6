"""Events as webhooks: one POST for each, signed after Standard Webhooks, several units at a time."""

import json
import statistics
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from standardwebhooks import Webhook

from tasks_app import outgoing
from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.core.events import Event
from tasks_app.core.text import visible
from tasks_app.lifecycle.signing_secrets import signing_secrets
from tasks_app.models import Subscription

from .sink import ANSWER_LENGTH, Attempt, lanes

GONE = 410
BUSY = (429, 503)
LONGEST_PAUSE = 3_600.0  # seconds that a receiver may ask for
FAILURES = 10  # in one call of deliver; with more of them than successes, the receiver is left alone
ENOUGH_PER_SECOND = 3_000  # calls; for a receiver that takes more, no further threads are begun
BEGIN_SECONDS = 5.0  # for this long new calls are begun, then what is left waits for the next round


class WebhookSink:
    """Calls a subscription's receiver, in as many threads as it takes."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._url = subscription.target["url"]
        self._signers: list[Webhook] = []
        self._usual_ms: float | None = None

    def deliver(self, events: Sequence[Event]) -> list[Attempt]:
        """One attempt for each event that was tried."""
        self._signers = self._signers or [Webhook(secret) for secret in signing_secrets(self._subscription)]
        call = _Round()
        first, *others = lanes(events, self._connections())
        # Not of a pool: those would keep a beat that is to end waiting for a receiver that doesn't answer.
        threads = [threading.Thread(target=self._lane, args=(lane, call), daemon=True) for lane in others]
        for thread in threads:
            thread.start()
        self._lane(first, call)
        for thread in threads:
            thread.join()
        if call.fault is not None:
            raise call.fault
        self._learn(call.attempts)
        return call.attempts

    def close(self) -> None:
        """Connections are kept by receiver, for whichever subscription calls it next."""

    def _connections(self) -> int:
        """Enough for a receiver that takes so long to answer, and no more: every thread that has something to do is one
        that the dispatcher's has to wait for."""
        most = conf().WEBHOOK_CONNECTIONS
        return most if self._usual_ms is None else min(most, 1 + int(self._usual_ms / 1_000 * ENOUGH_PER_SECOND))

    def _learn(self, attempts: Sequence[Attempt]) -> None:
        if attempts:
            self._usual_ms = statistics.median(attempt.ms for attempt in attempts)

    def _lane(self, events: Sequence[Event], call: "_Round") -> None:
        """One event after the other; after one that failed, the rest of its unit waits."""
        failed = set()
        try:
            for event in events:
                if call.stop or time.monotonic() > call.begins_until:
                    return
                if event.unit not in failed:
                    with MARKS.on(Kind.SUBSCRIPTION, self._subscription.id, "relay", patient=True):
                        attempt = self._attempt(event)
                    if not attempt.ok:
                        failed.add(event.unit)
                    call.note(attempt)
        except Exception as error:
            call.fault, call.stop = error, True

    def _attempt(self, event: Event) -> Attempt:
        body = json.dumps(event.as_json(), separators=(",", ":"))
        try:
            answer = outgoing.post(
                self._url, body.encode(), self._headers(event.id, body), timeout=conf().WEBHOOK_TIMEOUT_SECONDS
            )
        except outgoing.Refused as error:
            return Attempt([event], False, "refused", 0.0, str(error)[:ANSWER_LENGTH])
        except outgoing.Unreachable as error:
            return Attempt([event], False, "unreachable", error.ms, str(error)[:ANSWER_LENGTH])
        ok = 200 <= answer.status < 300
        pause = min(answer.retry_after, LONGEST_PAUSE) if answer.retry_after and answer.status in BUSY else None
        return Attempt([event], ok, str(answer.status), answer.ms, _text(answer), pause, gone=answer.status == GONE)

    def _headers(self, event_id: str, body: str) -> dict[str, str]:
        now = datetime.now(UTC)
        return {
            "Content-Type": "application/json",
            "webhook-id": event_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(signer.sign(event_id, now, body) for signer in self._signers),
        }


class _Round:
    """What the threads of one call of deliver share."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.stop = False
        self.fault: Exception | None = None  # of our own
        self.begins_until = time.monotonic() + BEGIN_SECONDS
        self._failed = self._delivered = 0

    def note(self, attempt: Attempt) -> None:
        if attempt.ok:
            self._delivered += 1
        else:
            self._failed += 1
            if _hopeless(attempt) or self._failed > max(FAILURES, self._delivered):
                self.stop = True
        self.attempts.append(attempt)


def _hopeless(attempt: Attempt) -> bool:
    """Whether any other event would fare the same now: it is down, busy, gone, or may not be called."""
    return not attempt.status.isdigit() or attempt.gone or int(attempt.status) in BUSY


def _text(answer: outgoing.Answer) -> str:
    if 300 <= answer.status < 400:
        return "It answered with a redirect, which is not followed. Subscribe with the address that it leads to."
    return visible(answer.body_start.decode(errors="replace"), lines=True)[:ANSWER_LENGTH]
