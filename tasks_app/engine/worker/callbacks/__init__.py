"""How a worker makes the calls of a batch of HTTP_CALLBACK: many at once, no more of a host than it allows."""

from .batch import run_callbacks

__all__ = ["run_callbacks"]
