"""Secrets under lock and key: each is sealed with a key of its own, which is sealed in turn with the installation's.

So a rotation writes a few bytes anew and never sees the secret. What a secret belongs to is sealed in with it: copied
to another row, it can't be opened.
"""

import base64
import binascii
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable, Iterator
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .errors import PunctualError

KEY_BYTES = 32
NONCE_BYTES = 12
FORMAT = "v1"


class CannotUnseal(PunctualError):
    """The key is gone, or the secret was changed or belongs elsewhere."""


class MasterKey(Protocol):
    """What seals the keys. One of a key management service looks the same: only its holder sees the key itself."""

    id: str  # stored beside what it has sealed: letters, digits, - and _

    def wrap(self, key: bytes, bound_to: bytes) -> bytes: ...

    def unwrap(self, wrapped: bytes, bound_to: bytes) -> bytes:
        """Raises CannotUnseal."""
        ...


class LocalKey:
    """A master key that this process has itself."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)
        self._root = hmac.digest(key, b"punctual derived keys", hashlib.sha256)
        self.id = hmac.digest(key, b"punctual key id", hashlib.sha256).hex()[:12]

    def wrap(self, key: bytes, bound_to: bytes) -> bytes:
        return _encrypt(self._cipher, key, bound_to)

    def unwrap(self, wrapped: bytes, bound_to: bytes) -> bytes:
        return _decrypt(self._cipher, wrapped, bound_to)

    def derive(self, purpose: str) -> bytes:
        """A key of its own for each purpose: what is made with one says nothing about another, nor about this one."""
        return hmac.digest(self._root, purpose.encode(), hashlib.sha256)


class Keyring:
    """The first key seals; each of them unseals what it has sealed."""

    def __init__(self, keys: Iterable[MasterKey]) -> None:
        self._keys = {key.id: key for key in reversed(list(keys))}
        self._first = list(self._keys.values())[-1]

    def __contains__(self, key_id: str) -> bool:
        return key_id in self._keys

    @property
    def first_id(self) -> str:
        return self._first.id

    @property
    def ids(self) -> list[str]:
        return sorted(self._keys)

    def seal(self, plain: str, bound_to: str) -> str:
        """`bound_to` says what the secret belongs to, such as a table, a row and a column."""
        key = AESGCM.generate_key(8 * KEY_BYTES)
        wrapped = self._first.wrap(key, bound_to.encode())
        return ".".join(
            [FORMAT, self._first.id, _text(wrapped), _text(_encrypt(AESGCM(key), plain.encode(), bound_to.encode()))]
        )

    def unseal(self, sealed: str, bound_to: str) -> str:
        """Raises CannotUnseal."""
        key_id, wrapped, encrypted = _parts(sealed)
        key = self._key(key_id).unwrap(wrapped, bound_to.encode())
        return _decrypt(AESGCM(key), encrypted, bound_to.encode()).decode()

    def rewrap(self, sealed: str, bound_to: str) -> str:
        """The same secret under the first key; unchanged if it is under that one already. Raises CannotUnseal."""
        key_id, wrapped, encrypted = _parts(sealed)
        if key_id == self._first.id:
            return sealed
        key = self._key(key_id).unwrap(wrapped, bound_to.encode())
        _decrypt(AESGCM(key), encrypted, bound_to.encode())  # nothing that can't be opened is made to look fresh
        return ".".join([FORMAT, self._first.id, _text(self._first.wrap(key, bound_to.encode())), _text(encrypted)])

    def sign(self, text: bytes, purpose: str) -> str:
        """Holds as long as its key is in the ring. By the first key that is here: one kept by a service only wraps."""
        signer = next(key for key in reversed(self._keys.values()) if isinstance(key, LocalKey))
        return f"{signer.id}.{_signature(signer, text, purpose)}"

    def has_signed(self, signature: str, text: bytes, purpose: str) -> bool:
        """Compared in a time that says nothing about how much of it is right."""
        key_id, _, given = signature.partition(".")
        signer = self._keys.get(key_id)
        if not isinstance(signer, LocalKey):
            return False
        return hmac.compare_digest(_signature(signer, text, purpose).encode(), given.encode())

    def _key(self, key_id: str) -> MasterKey:
        try:
            return self._keys[key_id]
        except KeyError:
            raise CannotUnseal(
                f"A secret is sealed with the key {key_id}, which this process does not have. Put that key back into "
                'PUNCTUAL["SECRET_KEYS"] (the derived one: restore SECRET_KEY, or name it in SECRET_KEY_FALLBACKS), '
                "run `manage.py secrets rotate`, and only then take it out."
            ) from None


def key_id_of(sealed: str) -> str:
    return _parts(sealed)[0]


def new_key() -> str:
    """For PUNCTUAL["SECRET_KEYS"]."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def local_key(text: str) -> LocalKey:
    """Of a text that new_key() gave. Raises ValueError, without the text in it."""
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        raise ValueError from None
    if len(key) != KEY_BYTES:
        raise ValueError
    return LocalKey(key)


def derived_key(secret_key: str) -> LocalKey:
    """A master key made from Django's SECRET_KEY."""
    return LocalKey(hmac.digest(secret_key.encode(), b"punctual secrets", hashlib.sha256))


def problems_of(keys: Iterable[object], where: str = 'PUNCTUAL["SECRET_KEYS"]') -> Iterator[str]:
    """Never with the key itself in it."""
    for number, key in enumerate(keys, start=1):
        if not isinstance(key, str):
            if not all(hasattr(key, name) for name in ("id", "wrap", "unwrap")):
                yield f"{where}: entry {number} is a {type(key).__name__}; it must be {_WANTED}."
            continue
        try:
            local_key(key)
        except ValueError:
            yield f"{where}: entry {number} is not {_WANTED}."


_WANTED = "a key that `manage.py secrets key` has printed, or an object with id, wrap and unwrap"


def _signature(key: LocalKey, text: bytes, purpose: str) -> str:
    return _text(hmac.digest(key.derive(purpose), text, hashlib.sha256))


def _encrypt(cipher: AESGCM, plain: bytes, bound_to: bytes) -> bytes:
    nonce = os.urandom(NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, plain, bound_to)


def _decrypt(cipher: AESGCM, encrypted: bytes, bound_to: bytes) -> bytes:
    try:
        return cipher.decrypt(encrypted[:NONCE_BYTES], encrypted[NONCE_BYTES:], bound_to)
    except (InvalidTag, ValueError):
        raise CannotUnseal(
            "A secret can't be opened: it was changed in the database, or it belongs to another row. "
            "Give what it belongs to a new one."
        ) from None


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _parts(sealed: str) -> tuple[str, bytes, bytes]:
    try:
        form, key_id, wrapped, encrypted = sealed.split(".")
        if form != FORMAT:
            raise ValueError
        return key_id, base64.urlsafe_b64decode(wrapped + "=="), base64.urlsafe_b64decode(encrypted + "==")
    except ValueError:
        raise CannotUnseal("What is stored is not a sealed secret. Give what it belongs to a new one.") from None
