"""Recoveries that hold something back, and since when nothing was noted of them. Reads only."""

from collections.abc import Iterable
from dataclasses import dataclass

from tasks_app.lifecycle.recovery import holds
from tasks_app.models import Curb


@dataclass(frozen=True, slots=True)
class HoldingView:
    incident: str
    lanes: list[str]  # that it holds; backfills wait too
    idle_seconds: float  # since it last began or did a step
    left_seconds: float  # until a beat lets go of it


def holding(curbs: Iterable[Curb] | None = None) -> list[HoldingView]:
    """A beat lets go of what one holds that was killed, but not soon."""
    return [HoldingView(*one) for one in holds(curbs)]
