"""What goes out: the address, headers, body and signature of one call."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

from standardwebhooks import Webhook

from tasks_app.core.callbacks import (
    ADDRESSES,
    ATTEMPT,
    COMPLETE_URL,
    FAIL_URL,
    FIRE_TIME,
    JOB,
    KEY,
    PROGRESS_URL,
    TASK,
    TENANT,
    TOKEN,
    WITH_BODY,
    Callback,
    as_json,
    filled,
    filled_text,
    usual_body,
)
from tasks_app.core.errors import RetryableError
from tasks_app.core.task import Task
from tasks_app.lifecycle.named_secrets import Opened

NO_SECRET = "NO_SECRET"
# What a header can carry as it is; a % is escaped with the rest, so that it can be read back.
_PLAIN = " !\"#$&'()*+,/:;<=>?@[\\]^`{|}~"

Secrets = Mapping[tuple[str, str], Opened]  # by tenant and name


@dataclass(frozen=True, slots=True)
class Prepared:
    """A task with what its call needs."""

    callback: Callback
    host: str
    job: str | None
    fire_time: datetime


class Request(NamedTuple):
    headers: dict[str, str]
    body: bytes | None
    hidden: tuple[str, ...]  # values that must not be seen in what comes back


def request_of(task: Task, one: Prepared, secrets: Secrets) -> Request:
    """Raises RetryableError if a secret that it needs is not there."""
    callback, token = one.callback, str(task.token)
    fire_time = one.fire_time.astimezone(UTC).isoformat().replace("+00:00", "Z")
    facts = {
        "token": token,
        "key": task.key,
        "tenant": task.tenant,
        "job": one.job,
        "fire_time": fire_time,
        "attempt": task.attempt,
        "task_id": task.id,
    }
    if callback.later is not None:
        facts |= dict(zip(ADDRESSES, task.addresses, strict=True))
    body, kind = _body(callback, facts)
    headers = {"Content-Type": kind} if kind else {}
    hidden = []
    for name, value in (callback.headers or {}).items():
        if name.lower() == "content-type":
            headers.pop("Content-Type", None)
        if isinstance(value, str):
            headers[name] = value
        else:
            text = _secret(task.tenant, value["secret"], secrets, one.host)
            headers[name] = value.get("prefix", "") + text
            hidden.append(text)
    headers |= {
        TOKEN: token,
        TASK: str(task.id),
        KEY: quote(task.key, safe=_PLAIN),
        TENANT: quote(task.tenant, safe=_PLAIN),
        FIRE_TIME: fire_time,
        ATTEMPT: str(task.attempt),
    }
    if callback.later is not None:
        headers |= dict(zip((COMPLETE_URL, FAIL_URL, PROGRESS_URL), task.addresses, strict=True))
    if one.job is not None:
        headers[JOB] = quote(one.job, safe=_PLAIN)
    if callback.sign:
        headers |= _signed(_signing(task.tenant, callback.sign, secrets), token, body or "")
    return Request(headers, None if body is None else body.encode(), tuple(hidden))


def _body(callback: Callback, facts: Mapping[str, Any]) -> tuple[str | None, str]:
    """The text, and what kind it is."""
    if callback.text is not None:
        return filled_text(callback.text, facts), "text/plain; charset=utf-8"
    if callback.json is not None:
        return as_json(filled(callback.json, facts)), "application/json"
    if callback.method in WITH_BODY:
        return as_json(usual_body(facts)), "application/json"
    return None, ""


def _secret(tenant: str, name: str, secrets: Secrets, host: str) -> str:
    found = _found(tenant, name, secrets)
    if found.hosts and host not in found.hosts:
        raise RetryableError(
            f"secret {name!r} may not be sent to {host}; it is for {', '.join(sorted(found.hosts))}.", code=NO_SECRET
        )
    return found.values[0]


def _signing(tenant: str, name: str, secrets: Secrets) -> Opened:
    found = _found(tenant, name, secrets)
    if not found.signs:
        raise RetryableError(f"secret {name!r} is no longer one that signs. Set it anew.", code=NO_SECRET)
    return found


def _found(tenant: str, name: str, secrets: Secrets) -> Opened:
    found = secrets.get((tenant, name))
    if found is None:
        raise RetryableError(f"tenant {tenant!r} has no secret {name!r} any more. Set it anew.", code=NO_SECRET)
    if not found.values:
        raise RetryableError(f"secret {name!r} of tenant {tenant!r}: {found.problem}", code=NO_SECRET)
    return found


def _signed(secret: Opened, token: str, body: str) -> dict[str, str]:
    """After Standard Webhooks: the token is the id, so that a repeat has the same."""
    now = datetime.now(UTC)
    return {
        "webhook-id": token,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(_signer(value).sign(token, now, body) for value in secret.values),
    }


@lru_cache(maxsize=64)
def _signer(secret: str) -> Webhook:
    return Webhook(secret)
