"""The report that people read: a page and a picture, made anew from the history after each drill."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from .history import Run

PAGE, PICTURE = "report.md", "report.svg"
SHOWN = 24  # runs of each drill, the newest
_NAME, _BAR, _GAP, _ROW, _TALL = 110, 14, 4, 56, 36


def write(folder: Path, runs: Sequence[Run]) -> None:
    (folder / PICTURE).write_text(picture(runs))
    (folder / PAGE).write_text(page(runs))


def page(runs: Sequence[Run]) -> str:
    by_drill = _by_drill(runs)
    lines = ["# Drills", "", f"![How long each took until all was well again]({PICTURE})", "", "## The last ones", ""]
    lines += _table([some[-1] for some in by_drill.values()])
    for name, some in by_drill.items():
        lines += ["", f"## {name}", "", *_table(some[-SHOWN:][::-1])]
    return "\n".join(lines) + "\n"


def _table(runs: Sequence[Run]) -> list[str]:
    lines = [
        "| drill | when | RTO | limit | RPO | lost | events lost | doubled | load | met |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        if "error" in run:
            lines.append(f"| {run['drill']} | {run['at']} | - | - | - | - | - | - | - | it could not be done |")
            continue
        load = f"{run['rate']:g}/s beside {run['tasks']:,}"
        lines.append(
            f"| {run['drill']} | {run['at']} | {seconds(run['rto_s'])} | {run['limit_s']:g} s after {run['since']} "
            f"| {run['rpo_s']:g} s | {run['lost']:,} | {run['events_lost']:,} | {run['duplicates']:,} | {load} "
            f"| {'yes' if run['met'] else 'no: ' + '; '.join(run['missed'])} |"
        )
    return lines


def picture(runs: Sequence[Run]) -> str:
    """A row for each drill, a bar for each run; the line is the limit."""
    by_drill = _by_drill(runs)
    wide, high = _NAME + SHOWN * (_BAR + _GAP) + 70, max(1, len(by_drill)) * _ROW + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        'role="img" aria-label="How long each drill took until all was well again" font-family="sans-serif" '
        'font-size="12">',
        "<style>text{fill:#333}.met{fill:#2e7d32}.missed{fill:#c62828}line{stroke:#888;stroke-dasharray:3 3}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}.met{fill:#66bb6a}.missed{fill:#ef5350}}</style>",
    ]
    for number, (name, some) in enumerate(by_drill.items()):
        parts += _row(name, [one for one in some if "error" not in one][-SHOWN:], 4 + number * _ROW)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(name: str, runs: Sequence[Run], top: int) -> list[str]:
    bottom = top + _TALL + 8
    if not runs:
        return [f'<text x="0" y="{bottom}">{escape(name)}</text>']
    limit = runs[-1]["limit_s"]
    most = max(limit * 1.25, *(run["rto_s"] or 0 for run in runs))
    at_limit = bottom - _TALL * limit / most
    parts = [f'<text x="0" y="{bottom}">{escape(name)}</text>']
    for place, run in enumerate(runs):
        took = most if run["rto_s"] is None else run["rto_s"]
        tall = max(1.5, _TALL * took / most)
        x = _NAME + place * (_BAR + _GAP)
        words = escape(f"{run['at']}: {seconds(run['rto_s'])}")
        parts.append(
            f'<rect class="{"met" if run["met"] else "missed"}" x="{x}" y="{bottom - tall:.1f}" width="{_BAR}" '
            f'height="{tall:.1f}"><title>{words}</title></rect>'
        )
    end = _NAME + SHOWN * (_BAR + _GAP)
    parts.append(f'<line x1="{_NAME}" x2="{end}" y1="{at_limit:.1f}" y2="{at_limit:.1f}"/>')
    parts.append(f'<text x="{end + 6}" y="{at_limit + 4:.1f}">{limit:g} s</text>')
    parts.append(f'<text x="{end + 6}" y="{bottom}">{escape(seconds(runs[-1]["rto_s"]))}</text>')
    return parts


def seconds(took: float | None) -> str:
    return "never" if took is None else f"{took:.1f} s"


def _by_drill(runs: Sequence[Run]) -> dict[str, list[Run]]:
    found = defaultdict(list)
    for run in runs:
        found[run["drill"]].append(run)
    return dict(found)
