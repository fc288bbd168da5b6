from enum import StrEnum
from typing import Self


class Answer(StrEnum):
    CANCELLED = "cancelled"
    CHANGED = "changed"
    DISCARDED = "discarded"
    DUE_NOW = "due now"
    FINISHED = "finished"
    LIMITED = "limited"
    MOVED = "moved"
    NOT_DEAD = "not dead"
    PLANNED = "planned"
    PUT_BACK = "put back"
    REPLACED = "replaced"
    REPLAYED = "replayed"
    RUNNING = "running"
    SUPERSEDED = "superseded"

    @classmethod
    def _missing_(cls, value: object) -> Self:
        """A word that a newer server says: kept as it is, so that its answer can still be read."""
        member = str.__new__(cls, value)
        member._name_ = member._value_ = str(value)
        return member
