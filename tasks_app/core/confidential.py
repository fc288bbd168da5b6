"""What a tenant's key encrypts: how it is stored, and what others see in its place. Which key is lifecycle's business.

A value is encrypted with AES-256-GCM, and what it belongs to is bound to it: copied to another row or column it can't
be opened. In a column of JSON it is an object with one key that nobody else may use, in a column of text it begins with
the same word; both name the key by its number. The payload of a task is bytes in a column of their own, which take a
quarter less, and a third of the time: then the object in its column of JSON names the key, and nothing else.
"""

import binascii
import os
from collections.abc import Sequence
from typing import overload

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
LONGEST_NUMBER = 18  # digits of that of a key
_NUMBER = len(STORED_JSON)  # where that of the key is, in such a text
_ENVELOPE = _NUMBER - len(_FORMAT) - 1


class Unreadable(InvalidTask):
    """Its key was destroyed, or it was changed in the database, or it belongs to another row: it stays so."""


STRANGE = Unreadable("What is stored here is not something that was encrypted by this installation.")
CHANGED = Unreadable(
    "What is encrypted here can't be opened: it was changed in the database, or it belongs to another row."
)


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

    def __reduce__(self) -> tuple[type["Encrypted"], tuple[str]]:
        return Encrypted, (self.envelope,)

    @property
    def key(self) -> int:
        """The number of its key. Raises Unreadable."""
        return key_number(self.envelope)

    @property
    def as_json(self) -> dict[str, str]:
        return {RESERVED: self.envelope}

    @property
    def json_text(self) -> str:
        """The same as PostgreSQL writes it: an envelope has nothing to escape."""
        return f'{{"{RESERVED}": "{self.envelope}"}}'

    @property
    def as_text(self) -> str:
        return f"{RESERVED}:{self.envelope}"


class DataKey:
    """A key of a tenant, opened. Never logged, never in an error."""

    def __init__(self, number: int, key: bytes, *, in_bytes: bool = True) -> None:
        self.number = number
        self.in_bytes = in_bytes  # False: one of before, that processes of then may still use
        self._cipher = AESGCM(key)

    def __repr__(self) -> str:
        return f"<DataKey {self.number}>"

    def encrypt(self, texts: Sequence[str], bound_to: Sequence[bytes]) -> list[Encrypted]:
        """Each of these texts, bound to what it belongs to."""
        prefix, encode = f"{_FORMAT}:{self.number}:", binascii.b2a_base64
        found = self.encrypt_bytes(texts, bound_to)
        return [Encrypted(prefix + encode(one, newline=False).decode()) for one in found]

    def encrypt_bytes(self, texts: Sequence[str], bound_to: Sequence[bytes]) -> list[bytes]:
        """The same as bytes, beside which `beside` has to be stored."""
        nonces, encrypt = os.urandom(NONCE_BYTES * len(texts)), self._cipher.encrypt
        starts = range(0, len(nonces), NONCE_BYTES)
        return [
            (nonce := nonces[start : start + NONCE_BYTES]) + encrypt(nonce, text.encode(), bound)
            for start, text, bound in zip(starts, texts, bound_to, strict=True)
        ]

    @property
    def beside(self) -> Encrypted:
        """A value that is in bytes elsewhere: names the key, and nothing else."""
        return Encrypted(f"{_FORMAT}:{self.number}:")

    def decrypt(self, envelope: str, bound_to: bytes, in_bytes: bytes | None = None) -> str:
        """Raises Unreadable. `in_bytes`: what is stored beside it."""
        text = envelope[envelope.find(":", 2) + 1 :]
        try:
            data = binascii.a2b_base64(text) if text else in_bytes or b""
        except ValueError:
            raise CHANGED from None
        return self.decrypt_bytes(data, bound_to)

    def decrypt_bytes(self, data: bytes, bound_to: bytes) -> str:
        """Raises Unreadable."""
        try:
            return self._cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], bound_to).decode()
        except (InvalidTag, ValueError):
            raise CHANGED from None


def key_number(envelope: str) -> int:
    """Raises Unreadable."""
    form, _, rest = envelope.partition(":")
    number = rest.partition(":")[0]
    if form != _FORMAT or not number.isdecimal() or len(number) > LONGEST_NUMBER:
        raise STRANGE
    return int(number)


def as_json(value: object) -> object:
    """A value of a JSON column as models have it."""
    if type(value) is dict and len(value) == 1 and isinstance(found := value.get(RESERVED), str):
        return Encrypted(found)
    return value


@overload
def as_text(value: str) -> str: ...


@overload
def as_text(value: str | None) -> str | None: ...


def as_text(value: str | None) -> str | None:
    """A value of a text column as models have it."""
    return Encrypted(value[len(RESERVED) + 1 :]) if value is not None and value.startswith(_TEXT) else value


def number_within(text: str) -> str | None:
    """What stands for the number of the key in a JSON column's text, as PostgreSQL writes it; None: it isn't encrypted.

    Found and not parsed, which would take several times as long as opening it: an envelope has nothing to escape.
    """
    if not text.startswith(STORED_JSON) or text.find('"', _NUMBER) != len(text) - 2:
        return None
    return text[_NUMBER : text.find(":", _NUMBER)]


def open_json(text: str, key: DataKey, bound_to: bytes, in_bytes: bytes | None = None) -> str:
    """What such a text has in it, or beside it. Raises Unreadable."""
    return key.decrypt(text[_ENVELOPE:-2], bound_to, in_bytes)


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
