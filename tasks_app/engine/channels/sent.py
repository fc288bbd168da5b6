"""What came of an alert that was sent."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sent:
    words: str  # what the other side said
    ms: float


class NotSent(Exception):
    """Why, in a sentence; `retry_after` is what the other side asked for, in seconds."""

    def __init__(self, words: str, retry_after: float | None = None) -> None:
        super().__init__(words)
        self.retry_after = retry_after
