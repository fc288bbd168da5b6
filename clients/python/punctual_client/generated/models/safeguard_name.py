from enum import StrEnum
from typing import Self


class SafeguardName(StrEnum):
    BREAKER = "breaker"
    DEAD_LETTERS = "dead_letters"
    DELAY = "delay"
    FAILURES = "failures"
    PROFILE = "profile"
    RETRIES = "retries"
    SLOW_HANDLER = "slow_handler"

    @classmethod
    def _missing_(cls, value: object) -> Self:
        """A word that a newer server says: kept as it is, so that its answer can still be read."""
        member = str.__new__(cls, value)
        member._name_ = member._value_ = str(value)
        return member
