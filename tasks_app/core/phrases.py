"""Small phrases for people: counts, figures, lengths of time, a long text's first line, an error for those outside."""

import re
from datetime import timedelta
from decimal import Decimal

# Here and below no place is tried twice, so that the time is linear: errors are as long as their handlers like.
_FRAMES = re.compile(
    r'^(Traceback \(most recent call last\)|[^\S\n]*File "[^"\n]*", line \d+).*', re.DOTALL | re.MULTILINE
)
# A path of two parts or more. An address keeps its own: it says where somebody else is, not where our files lie.
_PATH = re.compile(r"""((?<!\w)\w++://[^\s'"]+)|(?<![\w.])(?:~|[A-Za-z]:)?(?:[/\\][^\s/\\'"`:,;()<>]+){2,}[/\\]?""")


def for_outsiders(error: str) -> str:
    """An error without its stack and without the paths of files: what a handler said, not where it runs."""
    return _PATH.sub(lambda found: found[1] or "…", _FRAMES.sub("", error)).strip()


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def counted(count: int, noun: str) -> str:
    """How many, with their noun in the singular or plural: 1 run, 2 runs."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def figure(value: float, digits: int = 6) -> str:
    """A number as people write it, without an exponent: 2,000,000 or 0.000001. A fraction has so many digits."""
    if value and not 1e-9 <= abs(value) < 1e15:
        return f"{value:g}"  # nobody counts that many zeros
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{Decimal(f'{value:.{digits}g}'):,f}"


def grammatical_number(rate: float) -> int:
    """1 if the figure, to three digits, is 1, and so goes with a singular; else 2."""
    return 1 if figure(rate, 3) == "1" else 2


def span(value: timedelta) -> str:
    """A length of time as people say it."""
    seconds = abs(value.total_seconds())
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms" if not 0 < seconds < 0.0005 else "less than 1 ms"
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def milliseconds(value: float) -> str:
    """So many of them, as people say it: to a tenth if they are few, else as a length of time."""
    return f"{value:.1f} ms" if value < 1000 else span(timedelta(milliseconds=value))


def exact_percent(fraction: float) -> str:
    """To a thousandth of a per cent, and never rounded up: 99.9 % is not reached by 99.8999 %."""
    return f"{int(fraction * 100_000 + 1e-6) / 1_000:g} %"


def percent(fraction: float) -> str:
    """A part of the whole as people say it; 100 % only if it is all of it."""
    return f"{int(fraction * 1000 + 1e-6) / 10:g} %"
