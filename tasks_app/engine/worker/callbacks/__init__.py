"""How a worker makes the calls of HTTP_CALLBACK: those of several batches side by side.

No endpoint and no tenant has all connections of a process."""

from .batch import run_callbacks
from .clerk import end_callbacks, hand_over

__all__ = ["end_callbacks", "hand_over", "run_callbacks"]
