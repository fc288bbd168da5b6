"""Lengths of time as people write them into files: 90s, 5m, 1h30m, 7d; read into seconds, and written back."""

import re

from .errors import InvalidTask, shown

_UNITS = {"w": 7 * 86_400, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_ONE = r"(?:(?P<{0}>[0-9]+(?:\.[0-9]+)?) *{0} *)?"
_WRITTEN = re.compile("".join(_ONE.format(unit) for unit in _UNITS))
_LONGEST = 40  # characters


def seconds_of(text: str) -> int | float:
    """The length of time in seconds, as a whole number where it is one; InvalidTask if it can't be read."""
    found = _WRITTEN.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    parts = {unit: amount for unit, amount in found.groupdict().items() if amount is not None} if found else {}
    if not parts:
        raise InvalidTask(
            f"{shown(text)} is not a length of time. Write it like 90s, 5m, 1h30m or 7d (units w, d, h, m, s, the "
            "largest first), or as a number of seconds."
        )
    seconds = sum((float(amount) * _UNITS[unit] for unit, amount in parts.items()), 0.0)
    return int(seconds) if seconds.is_integer() else seconds


def written(seconds: int | float) -> str | int | float:
    """As short as it can be read back exactly; what is not whole seconds stays a number."""
    if seconds != int(seconds) or seconds <= 0:
        return seconds
    left, parts = int(seconds), []
    for unit in ("d", "h", "m", "s"):
        amount, left = divmod(left, _UNITS[unit])
        if amount:
            parts.append(f"{amount}{unit}")
    return "".join(parts)
