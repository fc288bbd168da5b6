"""Charts as plain SVG, drawn on the server: shapes for the eye, a sentence and a table for everybody."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from .spans import axis, milliseconds

WIDTH, HEIGHT = 600.0, 120.0
# Where the axis of times has lines and may end, in ms: people read seconds and minutes, not ten thousands of something.
STOPS_MS = (1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000, 864_000_000, 8_640_000_000)
LEAST_APART = 10.0  # percent of the height between two lines with their words
Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    css: str
    values: Values
    shape: str = ""  # the path of an SVG
    outline: bool = False  # a line across the bars, such as a limit; it is no column of the table


@dataclass(frozen=True, slots=True)
class Chart:
    name: str  # the id of its element
    title: str
    summary: str
    series: list[Series]
    labels: Sequence[str]  # one for each value
    top: str  # what the upper edge stands for
    bottom: str
    unit: str
    filled: bool
    step: str = gettext_lazy("Minute")  # what one value stands for: the head of the table's first column
    urls: Sequence[str] = ()  # one for each value: the page of what it counts; empty: there is no such page
    ticks: Sequence[tuple[float, str]] = ()  # lines across: how far down, in percent, and what they stand for

    @property
    def hits(self) -> list[tuple[float, float, str, str]]:
        """Where to point or click for one value: x, width, address, and what it says; only where something happened."""
        places = max(len(self.labels) - (not self.filled), 1)
        step = WIDTH / places
        first = 0.0 if self.filled else -step / 2  # a line has its values at the edges, bars between them
        return [
            (round(first + place * step, 1), round(step, 1), url, f"{label}: {self._words(row)}")
            for place, (label, row, url) in enumerate(self._all_rows)
            if any(row)
        ]

    @property
    def drawn_hits(self) -> SafeString:
        """The same as SVG; made here, as drawn_rows is, since a template takes several times as long."""
        shapes = []
        for x, width, url, words in self.hits:
            inside = f"<title>{escape(words)}</title>"
            shape = f'<rect class="pu-hit" x="{x}" y="0" width="{width}" height="120">{inside}</rect>'
            shapes.append(f'<a href="{escape(url)}" tabindex="-1">{shape}</a>' if url else shape)
        return SafeString("".join(shapes))

    @property
    def grid(self) -> str:
        """The path of the lines across."""
        heights = [percent / 100 * HEIGHT for percent, _ in self.ticks] or [0.0, HEIGHT / 2, HEIGHT]
        return "".join(f"M0 {height:.1f}h{WIDTH:.0f}" for height in heights)

    def _words(self, row: Sequence[float | None]) -> str:
        named = zip(self.columns, row, strict=True)
        return ", ".join(f"{one.name} {self.said(value)}" for one, value in named if value)

    def said(self, value: float | None) -> str:
        """A value as the table has it."""
        if value is None:
            return "–"
        return f"{value:,}" if self.filled else milliseconds(value)

    @property
    def columns(self) -> list[Series]:
        return [one for one in self.series if not one.outline]

    @property
    def rows(self) -> list[tuple[str, list[float | None]]]:
        """The table: only where something happened."""
        return [(label, row) for label, row, _ in self.linked_rows]

    @property
    def linked_rows(self) -> list[tuple[str, list[float | None], str]]:
        """The same, each with the address of its page."""
        return [(label, row, url) for label, row, url in self._all_rows if any(row)]

    @property
    def said_rows(self) -> list[tuple[str, list[str], str]]:
        """The same, in words."""
        return [(label, [self.said(value) for value in row], url) for label, row, url in self.linked_rows]

    @property
    def drawn_rows(self) -> SafeString:
        """The same as rows of HTML."""
        rows = []
        for label, values, url in self.said_rows:
            head = f'<a href="{escape(url)}">{escape(label)}</a>' if url else escape(label)
            cells = "".join(f"<td>{escape(value)}</td>" for value in values)
            rows.append(f'<tr><th scope="row">{head}</th>{cells}</tr>')
        return SafeString("\n".join(rows))

    @property
    def _all_rows(self) -> list[tuple[str, list[float | None], str]]:
        columns, urls = zip(*(one.values for one in self.columns), strict=True), self.urls or [""] * len(self.labels)
        return [(label, list(row), url) for label, row, url in zip(self.labels, columns, urls, strict=True)]


def bars(
    name: str,
    title: str,
    summary: str,
    labels: Sequence[str],
    series: Sequence[Series],
    of: str,
    step: str = gettext_lazy("Minute"),
    level: Series | None = None,
    urls: Sequence[str] = (),
) -> Chart:
    """Bars on top of each other, of what is counted: `of` is the word for one. `level` is a line at its first value."""
    totals = [sum(value or 0 for value in column) for column in zip(*(s.values for s in series), strict=True)]
    highest = _round_up(max(*totals, *(value or 0 for value in (level.values if level else ())), 0))
    below = [0.0] * len(totals)
    drawn = []
    for one in series:
        drawn.append(Series(one.name, one.css, one.values, _boxes(one.values, below, highest)))
        below = [low + (value or 0) for low, value in zip(below, one.values, strict=True)]
    if level is not None:
        line = f"M0 {HEIGHT - (level.values[0] or 0) / highest * HEIGHT:.1f}h{WIDTH:.0f}"
        drawn.append(Series(level.name, level.css, level.values, line, outline=True))
    unit = gettext(of if highest == 1 else f"{of}s")
    return Chart(name, title, summary, drawn, labels, f"{highest:,.0f}", "0", unit, filled=True, step=step, urls=urls)


def lines(
    name: str,
    title: str,
    summary: str,
    labels: Sequence[str],
    series: Sequence[Series],
    step: str = gettext_lazy("Minute"),
    urls: Sequence[str] = (),
) -> Chart:
    """Lines of times, in ms, on a logarithmic scale from 1 ms upwards, with gaps where there is no value."""
    highest = max((value for one in series for value in one.values if value), default=0)
    top = next((stop for stop in STOPS_MS[1:] if stop >= highest), STOPS_MS[-1])
    drawn = [Series(s.name, s.css, s.values, _line(s.values, top)) for s in series]
    heights = {stop: round(100 - 100 * math.log10(stop) / math.log10(top), 1) for stop in STOPS_MS if stop <= top}
    ticks: list[tuple[float, str]] = []
    for stop, height in heights.items():
        if not ticks or ticks[-1][0] - height >= LEAST_APART:
            ticks.append((height, axis(stop)))
    return Chart(name, title, summary, drawn, labels, "", "", "", filled=False, step=step, urls=urls, ticks=ticks)


def _boxes(values: Values, below: Sequence[float], highest: float) -> str:
    step = WIDTH / max(len(values), 1)
    parts = []
    for place, (value, low) in enumerate(zip(values, below, strict=True)):
        if value:
            # A thing that happened is at least a pixel high, or nobody would see it.
            height = max(value / highest * HEIGHT, 1.5)
            bottom = HEIGHT - low / highest * HEIGHT
            parts.append(f"M{place * step + 0.5:.1f} {bottom:.1f}v{-height:.1f}h{step - 1:.1f}v{height:.1f}z")
    return "".join(parts)


def _line(values: Values, top: float) -> str:
    step = WIDTH / max(len(values) - 1, 1)
    parts, pen_down = [], False
    for place, value in enumerate(values):
        if value is None:
            pen_down = False
            continue
        share = min(max(math.log10(max(value, 1)) / math.log10(top), 0), 1)
        # A single value gets a line of almost no length: its round ends make a dot.
        end = "" if pen_down else "h0.1"
        parts.append(f"{'L' if pen_down else 'M'}{place * step:.1f} {HEIGHT - share * HEIGHT:.1f}{end}")
        pen_down = True
    return "".join(parts)


def _round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20 and so on."""
    if value <= 1:
        return 1.0
    power: float = 10 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)
