"""The picture of a graph: where its boxes and arrows lie, and the same as a list for those who can't see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks_app.core.graphs import layers

MOST_DRAWN = 150  # boxes; what has more is shown as a list alone
WIDE, HIGH = 190, 46
ACROSS, DOWN = 70, 18  # between two boxes
EDGE = 8
LETTERS = 24  # of a name that fit into a box


@dataclass(frozen=True, slots=True)
class Box:
    """One node, as whoever shows it describes it."""

    key: int
    name: str
    parents: Sequence[int]
    state: str = ""
    url: str = ""
    critical: bool = False  # it is marked, and the list says so in words
    this: bool = False  # the page is about it
    note: str = ""


@dataclass(frozen=True, slots=True)
class Drawn:
    box: Box
    x: int
    y: int

    @property
    def short(self) -> str:
        name = self.box.name
        return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"

    @property
    def text_x(self) -> int:
        return self.x + 12

    @property
    def name_y(self) -> int:
        return self.y + (20 if self.box.state else 28)

    @property
    def state_y(self) -> int:
        return self.y + 37


@dataclass(frozen=True, slots=True)
class Row:
    """A node in the list."""

    box: Box
    parents: list[str]


@dataclass(frozen=True, slots=True)
class Picture:
    width: int
    height: int
    boxes: list[Drawn]  # none: there are too many to draw
    arrows: list[str]  # paths of SVG
    rows: list[Row]
    box_width: int = WIDE
    box_height: int = HIGH


def picture(boxes: Sequence[Box]) -> Picture:
    """From left to right, each behind all that it waits for."""
    known = {box.key: box for box in boxes}
    columns = layers({box.key: [one for one in box.parents if one in known] for box in boxes})
    rows = [
        Row(known[key], [known[one].name for one in known[key].parents if one in known])
        for column in columns
        for key in column
    ]
    if len(boxes) > MOST_DRAWN:
        return Picture(0, 0, [], [], rows)
    tallest = max((len(column) for column in columns), default=0)
    drawn: dict[int, Drawn] = {}
    for place, column in enumerate(columns):
        top = EDGE + (tallest - len(column)) * (HIGH + DOWN) // 2
        for number, key in enumerate(_untangled(column, known, drawn)):
            drawn[key] = Drawn(known[key], EDGE + place * (WIDE + ACROSS), top + number * (HIGH + DOWN))
    width = 2 * EDGE + len(columns) * (WIDE + ACROSS) - ACROSS
    height = 2 * EDGE + tallest * (HIGH + DOWN) - DOWN
    arrows = [_arrow(drawn[one], drawn[box.key]) for box in boxes for one in box.parents if one in drawn]
    return Picture(width, height, list(drawn.values()), arrows, rows)


def _untangled(column: Sequence[int], known: Mapping[int, Box], drawn: Mapping[int, Drawn]) -> list[int]:
    """In the order of those before them, so that few arrows cross."""

    def middle(key: int) -> float:
        above = [drawn[one].y for one in known[key].parents if one in drawn]
        return sum(above) / len(above) if above else 0.0

    return sorted(column, key=middle)


def _arrow(start: Drawn, end: Drawn) -> str:
    x1, y1, x2, y2 = start.x + WIDE, start.y + HIGH // 2, end.x, end.y + HIGH // 2
    half = (x2 - x1) // 2
    return f"M{x1} {y1}C{x1 + half} {y1} {x2 - half} {y2} {x2 - 6} {y2}l-5 -4m5 4l-5 4"
