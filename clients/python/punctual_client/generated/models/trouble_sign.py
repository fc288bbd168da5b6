from enum import StrEnum
from typing import Self


class TroubleSign(StrEnum):
    BEAT = "beat"
    COMMAND = "command"
    INCIDENT = "incident"
    TASK = "task"

    @classmethod
    def _missing_(cls, value: object) -> Self:
        """A word that a newer server says: kept as it is, so that its answer can still be read."""
        member = str.__new__(cls, value)
        member._name_ = member._value_ = str(value)
        return member
