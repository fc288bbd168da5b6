"""What a subscription's webhooks are signed with: made here, shown once, stored sealed."""

import base64
import binascii
import secrets
from collections.abc import Iterable

from tasks_app.core.errors import InvalidTask
from tasks_app.models import Subscription
from tasks_app.sealing import seal, unseal

PREFIX = "whsec_"
SECRET_BYTES = 32
LEAST_BYTES, MOST_BYTES = 24, 64  # as Standard Webhooks has it
MOST_SECRETS = 4  # of one subscription; each is a signature on every call


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def checked_secret(text: str) -> str:
    """One that the receiver has chosen. Raises InvalidTask, without the secret in it."""
    try:
        size = len(base64.b64decode(text.removeprefix(PREFIX), validate=True)) if text.startswith(PREFIX) else 0
    except binascii.Error:
        size = 0
    if not LEAST_BYTES <= size <= MOST_BYTES:
        raise InvalidTask(
            f"A secret is {PREFIX} and {LEAST_BYTES} to {MOST_BYTES} random bytes in base64. Leave it out, and one is "
            "made for you."
        )
    return text


def sealed_secrets(subscription_id: int, plain: Iterable[str]) -> list[str]:
    """What is stored of them: it opens for this subscription only, so its row has to be there first."""
    return [seal(text, bound_to(subscription_id)) for text in plain]


def signing_secrets(subscription: Subscription) -> list[str]:
    """All that are valid now, the newest first. Raises CannotUnseal."""
    return [unseal(text, bound_to(subscription.id)) for text in subscription.secrets]


def bound_to(subscription_id: int) -> str:
    return f"punctual_subscription/{subscription_id}"
