"""Keys that sign the anchors and exports of the audit trail: Ed25519. One half signs, the other only verifies."""

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_BYTES = 32
PRIVATE, PUBLIC = "private", "public"
_WANTED = (
    "a key that `manage.py audit keys --new` has printed, such as private:… for the one that signs or public:… for one "
    "that only verifies"
)


@dataclass(frozen=True, slots=True)
class AuditKey:
    public: bytes
    private: bytes | None = field(default=None, repr=False)  # None: it only verifies

    @property
    def id(self) -> str:
        return hashlib.sha256(b"punctual audit key" + self.public).hexdigest()[:16]

    @property
    def public_text(self) -> str:
        return f"{PUBLIC}:{_text(self.public)}"

    def sign(self, data: bytes) -> str:
        if self.private is None:
            raise ValueError(f"key {self.id} has no private half")
        return _text(Ed25519PrivateKey.from_private_bytes(self.private).sign(data))

    def has_signed(self, signature: str, data: bytes) -> bool:
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(base64.b64decode(signature, validate=True), data)
        except (InvalidSignature, binascii.Error, ValueError):
            return False
        return True


class AuditKeys:
    """Those of the settings: the first that has a private half signs, all of them verify."""

    def __init__(self, keys: Iterable[AuditKey]) -> None:
        self.all = list(keys)

    @property
    def signer(self) -> AuditKey | None:
        return next((key for key in self.all if key.private is not None), None)

    def get(self, key_id: str) -> AuditKey | None:
        return next((key for key in self.all if key.id == key_id), None)


def new_key() -> tuple[str, str]:
    """The private text and the public one."""
    private = Ed25519PrivateKey.generate().private_bytes_raw()
    return f"{PRIVATE}:{_text(private)}", _of_private(private).public_text


def key_of(text: str) -> AuditKey:
    """Of a text that new_key() gave. Raises ValueError, without the text in it."""
    kind, _, encoded = text.strip().partition(":")
    try:
        data = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise ValueError from None
    if len(data) != KEY_BYTES or kind not in (PRIVATE, PUBLIC):
        raise ValueError
    return _of_private(data) if kind == PRIVATE else AuditKey(data)


def problems_of(keys: Iterable[object], where: str = 'PUNCTUAL["AUDIT_KEYS"]') -> Iterator[str]:
    """Never with the key itself in it."""
    for number, key in enumerate(keys, start=1):
        try:
            key_of(key if isinstance(key, str) else "")
        except ValueError:
            yield f"{where}: entry {number} is not {_WANTED}."


def _of_private(private: bytes) -> AuditKey:
    return AuditKey(Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw(), private)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
