"""Small phrases for people: lengths of time, and the first line of a long text."""

from datetime import timedelta


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def span(value: timedelta) -> str:
    """A length of time as people say it."""
    seconds = abs(value.total_seconds())
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def milliseconds(value: float) -> str:
    """So many of them, as people say it: to a tenth if they are few, else as a length of time."""
    return f"{value:.1f} ms" if value < 1000 else span(timedelta(milliseconds=value))
