"""What a subscription's webhooks are signed with: made here, shown once, stored sealed."""

import base64
import binascii
import secrets

from tasks_app.core.errors import InvalidTask
from tasks_app.models import Subscription
from tasks_app.sealing import seal, unseal

PREFIX = "whsec_"
SECRET_BYTES = 32
LEAST_BYTES, MOST_BYTES = 24, 64  # as Standard Webhooks has it
MOST_SECRETS = 4  # of one subscription; each is a signature on every call


def add_to(row: Subscription, given: str | None = None) -> str:
    """Sign with one more secret, a new one or this; returns it, for the last time. The row must be locked."""
    secret = new_secret() if given is None else checked_secret(given)
    if len(row.secrets) >= MOST_SECRETS:
        raise InvalidTask(
            f"subscription {row} has {len(row.secrets)} secrets, and {MOST_SECRETS} is the most. Withdraw the old ones "
            "when the receiver knows the newest."
        )
    _write(row, [seal(secret, bound_to(row.id)), *row.secrets])
    return secret


def withdraw_old(row: Subscription) -> int:
    """Sign with the newest alone from now on; returns how many were withdrawn. The row must be locked."""
    withdrawn = len(row.secrets) - 1
    if withdrawn > 0:
        _write(row, row.secrets[:1])
    return max(withdrawn, 0)


def signing_secrets(row: Subscription) -> list[str]:
    """All that are valid now, the newest first. Raises CannotUnseal."""
    return [unseal(text, bound_to(row.id)) for text in row.secrets]


def checked_secret(text: object) -> str:
    """One that the receiver has chosen. Raises InvalidTask, without the secret in it."""
    try:
        encoded = text.removeprefix(PREFIX) if isinstance(text, str) and text.startswith(PREFIX) else ""
        size = len(base64.b64decode(encoded, validate=True))
    except (ValueError, binascii.Error):
        size = 0
    if not isinstance(text, str) or not LEAST_BYTES <= size <= MOST_BYTES:
        raise InvalidTask(
            f"A secret is {PREFIX} and {LEAST_BYTES} to {MOST_BYTES} random bytes in base64. Leave it out, and one is "
            "made for you."
        )
    return text


def bound_to(subscription_id: int) -> str:
    """What a secret is sealed to: copied to another subscription, it can't be opened."""
    return f"punctual_subscription/{subscription_id}"


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def _write(row: Subscription, sealed: list[str]) -> None:
    row.secrets = sealed
    row.save(update_fields=["secrets"])
