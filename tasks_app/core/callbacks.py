"""What an HTTP_CALLBACK calls: method, address, headers and body, checked before anything is scheduled."""

import json as json_text
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from .away import checked_lease
from .errors import InvalidTask, nearest, shown
from .receivers import Receiver, receiver_of

HTTP_CALLBACK = "HTTP_CALLBACK"
SIGNED_WITH = "callbacks"  # the name of the secret that signs, unless another is named
TIMEOUT_SECONDS, LONGEST_SECONDS = 5.0, 300.0
MOST_HEADERS = 50
HEADER_LENGTH = 4_096
NAME_LENGTH = 100
PLACEHOLDERS = ("token", "key", "tenant", "job", "fire_time", "attempt", "task_id")
ADDRESSES = ("complete_url", "fail_url", "progress_url")  # placeholders too, if the outcome may be reported later
MOST_PLACEHOLDERS = 1_000
TEMPLATE_LENGTH = 65_536  # characters of all texts of a call that may have placeholders
WITH_BODY = ("POST", "PUT", "PATCH")

# What it sends itself: nobody may pretend to be it, and nothing may come twice.
TOKEN, JOB, KEY = "Idempotency-Key", "Punctual-Job", "Punctual-Key"
FIRE_TIME, ATTEMPT, TASK, TENANT = "Punctual-Fire-Time", "Punctual-Attempt", "Punctual-Task", "Punctual-Tenant"
COMPLETE_URL, FAIL_URL, PROGRESS_URL = "Punctual-Complete-Url", "Punctual-Fail-Url", "Punctual-Progress-Url"
_OURS = {TOKEN.lower()}
_OUR_PREFIXES = ("punctual-", "webhook-")
# What the connection says itself, in outgoing.
_OF_CONNECTION = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "expect", "upgrade"}
_OF_CONNECTION |= {"te", "trailer", "keep-alive", "proxy-connection", "proxy-authorization", "user-agent"}

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[\t -~]*")
_SECRET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_PLACEHOLDER = re.compile(r"\{\{([^{}]*+)\}\}")  # possessive, so that a place is never tried again

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class SecretHeader(TypedDict, total=False):
    """The value of a header that is kept under a name: `prefix` comes before it, as in "Bearer "."""

    secret: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Callback:
    """One call, as a payload describes it."""

    url: str
    method: Method = "POST"
    headers: dict[str, str | SecretHeader] | None = None
    json: Any = None
    text: str | None = None
    timeout: float = TIMEOUT_SECONDS  # seconds, for the whole call
    success: list[int] | None = None  # the answers that are a success; None: any 2xx
    sign: str = SIGNED_WITH  # the name of the secret that signs; empty: nothing does
    later: float | None = None  # seconds: after a 202 the outcome is reported, and within this time something is heard

    @property
    def secrets(self) -> dict[str, SecretHeader]:
        """Of its headers those that are kept under a name."""
        return {name: value for name, value in (self.headers or {}).items() if not isinstance(value, str)}

    def succeeds_with(self, status: int) -> bool:
        return 200 <= status < 300 if self.success is None else status in self.success


def checked_callback(callback: Callback) -> Receiver:
    """Whom it calls. Raises InvalidTask with what is wrong; whether the address may be called, others decide."""
    receiver = receiver_of(callback.url)
    if not 0 < callback.timeout <= LONGEST_SECONDS:
        raise InvalidTask(
            f"timeout={shown(callback.timeout)} must be more than 0 seconds and at most {LONGEST_SECONDS:g}. What "
            "takes longer should answer at once and work on afterwards."
        )
    if callback.json is not None and callback.text is not None:
        raise InvalidTask("json and text were both given; a call has one body. Give the one you mean.")
    body = "json" if callback.json is not None else "text" if callback.text is not None else ""
    if body and callback.method not in WITH_BODY:
        raise InvalidTask(
            f"method={callback.method!r} has no body, but {body} was given. Use {', '.join(WITH_BODY)}, or drop it."
        )
    for code in callback.success or ():
        if not 200 <= code <= 599:
            raise InvalidTask(
                f"success has {shown(code)}; it lists statuses of HTTP from 200 to 599, such as [200, 409]."
            )
    if callback.success is not None and not callback.success:
        raise InvalidTask("success is empty, so no answer could be a success. Leave it out for any 2xx.")
    if callback.sign:
        checked_secret_name(callback.sign)
    if callback.later is not None:
        checked_lease(callback.later, "later: ")
    _refuse_bad_headers(callback)
    known = PLACEHOLDERS if callback.later is None else (*PLACEHOLDERS, *ADDRESSES)
    templates = [text for text in _texts_of(callback) if "{{" in text]
    _refuse_too_much(templates)
    for text in templates:
        _refuse_unknown_placeholder(text, known)
    return receiver


def checked_secret_name(name: object) -> str:
    if not isinstance(name, str) or not _SECRET_NAME.fullmatch(name):
        raise InvalidTask(
            f"the name of a secret can't be {shown(name)}: it has 1 to {NAME_LENGTH} letters, digits and _ . -, and "
            "begins with a letter or a digit, such as 'billing-token'."
        )
    return name


def is_header_value(text: str) -> bool:
    return len(text) <= HEADER_LENGTH and _VALUE.fullmatch(text) is not None


def _refuse_bad_headers(callback: Callback) -> None:
    headers = callback.headers or {}
    if len(headers) > MOST_HEADERS:
        raise InvalidTask(f"{len(headers)} headers are too many; a call has at most {MOST_HEADERS}.")
    seen: set[str] = set()
    for name, value in headers.items():
        small = name.lower()
        if not _HEADER.fullmatch(name):
            raise InvalidTask(f"the header {shown(name)} has no name that HTTP knows, such as 'X-Request-Source'.")
        if small in seen:
            raise InvalidTask(f"the header {name!r} is given twice; small and capital letters make no difference.")
        if small in _OURS or small.startswith(_OUR_PREFIXES) or small in _OF_CONNECTION:
            raise InvalidTask(f"the header {name!r} is set by Punctual itself. Leave it out.")
        seen.add(small)
        _refuse_bad_value(name, value)


def _refuse_bad_value(name: str, value: str | SecretHeader) -> None:
    if isinstance(value, str):
        if not is_header_value(value):
            raise InvalidTask(
                f"the header {name!r} is {shown(value)}; a value has at most {HEADER_LENGTH:,} printable characters of "
                "ASCII."
            )
        return
    if "secret" not in value:
        raise InvalidTask(f'the header {name!r} names no secret; write it as {{"secret": "billing-token"}}.')
    checked_secret_name(value["secret"])
    if not is_header_value(value.get("prefix", "")):
        raise InvalidTask(f"the header {name!r}: its prefix {shown(value['prefix'])} is not printable ASCII.")


# ---- placeholders ----


def filled(value: Any, facts: Mapping[str, Any]) -> Any:
    """The body with its placeholders filled in. A string that is one placeholder and nothing else becomes the fact
    itself, a number or null too."""
    match value:
        case str():
            if "{{" not in value:
                return value
            if (whole := _PLACEHOLDER.fullmatch(value)) is not None:
                return facts[_name(whole)]
            return filled_text(value, facts)
        case dict():
            return {name: filled(one, facts) for name, one in value.items()}
        case list():
            return [filled(one, facts) for one in value]
        case _:
            return value


def filled_text(text: str, facts: Mapping[str, Any]) -> str:
    return _PLACEHOLDER.sub(lambda found: _as_text(facts[_name(found)]), text) if "{{" in text else text


def _name(placeholder: re.Match[str]) -> str:
    return placeholder[1].strip()


def usual_body(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent if a payload says nothing about it."""
    return dict(facts)


def as_json(value: Any) -> str:
    return json_text.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _as_text(fact: Any) -> str:
    return "" if fact is None else str(fact)


def _texts_of(callback: Callback) -> Iterator[str]:
    if callback.text is not None:
        yield callback.text
    level = [callback.json]
    while level:
        one = level.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            level += one.values()
        elif isinstance(one, list | tuple):
            level += one


def _refuse_too_much(templates: Sequence[str]) -> None:
    if (length := sum(map(len, templates))) > TEMPLATE_LENGTH:
        raise InvalidTask(
            f"this callback has {length:,} characters in texts with {{{{; a callback has at most {TEMPLATE_LENGTH:,}. "
            "Send an id instead of the data, or put long texts without {{ in strings of their own."
        )
    if (number := sum(1 for text in templates for _ in _PLACEHOLDER.finditer(text))) > MOST_PLACEHOLDERS:
        raise InvalidTask(
            f"this callback has {number:,} placeholders; a callback has at most {MOST_PLACEHOLDERS:,}. Send each value "
            "once."
        )


def _refuse_unknown_placeholder(text: str, known: Sequence[str]) -> None:
    for found in _PLACEHOLDER.finditer(text):
        name = _name(found)
        if name in ADDRESSES and name not in known:
            raise InvalidTask(
                f"the placeholder {found[0]} is an address to report to, and there is none without `later`. Say within "
                "how many seconds something is heard of the work, such as later=3600."
            )
        if name not in known:
            raise InvalidTask(
                f"the placeholder {shown(found[0])} is unknown.{nearest(name, known)} There are "
                f"{', '.join(f'{{{{{name}}}}}' for name in known)}."
            )
