from enum import StrEnum
from typing import Self


class AnyCampaignKind(StrEnum):
    BACKFILL = "backfill"
    CANCEL = "cancel"
    DISCARD = "discard"
    MOVE = "move"
    REPLAY = "replay"
    RETRY = "retry"
    UNDO = "undo"

    @classmethod
    def _missing_(cls, value: object) -> Self:
        """A word that a newer server says: kept as it is, so that its answer can still be read."""
        member = str.__new__(cls, value)
        member._name_ = member._value_ = str(value)
        return member
