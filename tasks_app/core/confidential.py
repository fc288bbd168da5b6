"""What a tenant's key encrypts: how it is stored, and what others see in its place. Which key is lifecycle's business.

A value is encrypted with AES-256-GCM, and what it belongs to is bound to it: copied to another row or column it can't
be opened. In a column of JSON it is an object with one key that nobody else may use, in a column of text it begins with
the same word; both name the key by its number.
"""

import base64
import json
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .errors import Degraded, InvalidTask

KEY_BYTES = 32
NONCE_BYTES = 12
RESERVED = "$punctual"  # as a key of an object, and as the beginning of a text: ours
ENCRYPTED = "encrypted"  # what people and programs see instead
_FORMAT = "1"
_TEXT = f"{RESERVED}:{_FORMAT}:"
STORED_JSON = f'{{"{RESERVED}": "{_FORMAT}:'  # as PostgreSQL writes it


class Unreadable(InvalidTask):
    """Its key was destroyed, or it was changed in the database, or it belongs to another row: it stays so."""


class KeyOutOfReach(Degraded):
    """Its key is sealed with one that this process does not have, or can't reach now: others may open it, or this one
    later."""


class Encrypted(str):
    """A value that is encrypted, as our models have it: it reads as the word, and is stored as it was.

    So whatever shows, exports or audits a row shows the word; only who asks for the envelope can open it.
    """

    envelope: str  # the number of its key, and what is encrypted

    def __new__(cls, envelope: str) -> "Encrypted":
        self = super().__new__(cls, ENCRYPTED)
        self.envelope = envelope
        return self

    def __reduce__(self) -> tuple:
        return Encrypted, (self.envelope,)

    @property
    def key(self) -> int:
        """The number of its key. Raises Unreadable."""
        return key_number(self.envelope)

    @property
    def as_json(self) -> dict[str, str]:
        return {RESERVED: self.envelope}

    @property
    def as_text(self) -> str:
        return f"{RESERVED}:{self.envelope}"


class DataKey:
    """A key of a tenant, opened. Never logged, never in an error."""

    def __init__(self, number: int, key: bytes) -> None:
        self.number = number
        self._cipher = AESGCM(key)

    def __repr__(self) -> str:
        return f"<DataKey {self.number}>"

    def encrypt(self, texts: Sequence[str], bound_to: Sequence[bytes]) -> list[Encrypted]:
        """Each of these texts, bound to what it belongs to."""
        nonces = os.urandom(NONCE_BYTES * len(texts))
        prefix, encrypt, encode = f"{_FORMAT}:{self.number}:", self._cipher.encrypt, base64.b64encode
        found = []
        for place, (text, bound) in enumerate(zip(texts, bound_to, strict=True)):
            nonce = nonces[NONCE_BYTES * place : NONCE_BYTES * (place + 1)]
            found.append(Encrypted(prefix + encode(nonce + encrypt(nonce, text.encode(), bound)).decode()))
        return found

    def decrypt(self, envelope: str, bound_to: bytes) -> str:
        """Raises Unreadable."""
        try:
            data = base64.b64decode(envelope[envelope.index(":", 2) + 1 :])
            return self._cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], bound_to).decode()
        except (InvalidTag, ValueError):
            raise Unreadable(
                "What is encrypted here can't be opened: it was changed in the database, or it belongs to another row."
            ) from None


def key_number(envelope: str) -> int:
    """Raises Unreadable."""
    form, _, rest = envelope.partition(":")
    number = rest.partition(":")[0]
    if form != _FORMAT or not number.isdecimal() or len(number) > 18:
        raise Unreadable("What is stored here is not something that was encrypted by this installation.")
    return int(number)


def as_json(value: object) -> object:
    """A value of a JSON column as models have it."""
    if type(value) is dict and len(value) == 1 and isinstance(found := value.get(RESERVED), str):
        return Encrypted(found)
    return value


def as_text(value: str | None) -> str | None:
    """A value of a text column as models have it."""
    return Encrypted(value[len(RESERVED) + 1 :]) if value is not None and value.startswith(_TEXT) else value


def json_envelope(text: str | None) -> str | None:
    """The envelope in a JSON column's text, as PostgreSQL writes it; None: it is not encrypted."""
    if text is None or not text.startswith(STORED_JSON):
        return None
    found = as_json(json.loads(text))
    return found.envelope if isinstance(found, Encrypted) else None


def own_words(text: str) -> str:
    """A text that nobody has encrypted, so that it doesn't look as if somebody had."""
    return f" {text}" if text.startswith(_TEXT) else text


def refuse_reserved(name: str, value: object) -> None:
    """What looks encrypted must be, so nobody else may write such a thing."""
    if isinstance(value, dict) and RESERVED in value:
        raise InvalidTask(
            f"{name} has the key {RESERVED!r}, by which encrypted payloads are known; it is reserved. Rename it."
        )


def of_unit(tenant: str, task_type: str, key: str) -> bytes:
    """What the payload of a task is bound to: stays the same when another row takes over."""
    return "\0".join(("payload", "unit", tenant, task_type, key)).encode()


def of_job(tenant: str, job: int) -> bytes:
    """What the payload of a job is bound to, and of all its instances."""
    return "\0".join(("payload", "job", tenant, str(job))).encode()


def of_payload(tenant: str, task_type: str, key: str, job: int | None) -> bytes:
    return of_unit(tenant, task_type, key) if job is None else of_job(tenant, job)


def of_task(tenant: str, task: int, what: str) -> bytes:
    """What a result, an error or a line of the log is bound to."""
    return "\0".join((what, "task", tenant, str(task))).encode()


def of_secret(tenant: str, secret: int) -> bytes:
    return "\0".join(("value", "secret", tenant, str(secret))).encode()
