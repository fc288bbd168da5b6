"""What is wrong, in words; and the words that several rules share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from tasks_app.core.said import Said, said, said_of

if TYPE_CHECKING:
    from ..status import LaneStatus

NAMED = 5  # subscriptions or processes in one sentence


class Severity(StrEnum):
    TROUBLE = "trouble"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Problem:
    severity: Severity
    sentence: str  # what is wrong
    way_out: str = ""
    detail: str = ""  # an error's words: for operators, not for tenants
    rule: str = ""  # the name of the rule that found it
    follows: tuple[str, ...] = ()  # the rules whose problems it explains

    @property
    def outward(self) -> str:
        """For whoever may call the API."""
        return f"{self.sentence} {self.way_out}".rstrip()

    def __str__(self) -> str:
        return " ".join(part for part in (self.sentence, self.detail, self.way_out) if part)


def trouble(sentence: str, way_out: str = "", detail: str = "") -> Problem:
    return Problem(Severity.TROUBLE, sentence, way_out, detail)


def notice(sentence: str, way_out: str = "", detail: str = "") -> Problem:
    return Problem(Severity.NOTICE, sentence, way_out, detail)


def lanes_named(names: Sequence[str]) -> Said:
    if len(names) == 1:
        return said("lane {name!r}", name=names[0])
    return said("lanes {names}", names=", ".join(names))


def error_said(words: str) -> Said:
    return said("The error: {error}.", error=words.rstrip("."))


def span(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def are_due(lane: LaneStatus) -> Said:
    if lane.due_exact:
        return said_of("{count:,} task is due", "{count:,} tasks are due", lane.due, count=lane.due)
    return said_of("about {count:,} task is due", "about {count:,} tasks are due", lane.due, count=lane.due)
