"""PUNCTUAL["SAFEGUARDS"]: which options each safeguard has, their ranges, and what is wrong with what was given."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeGuard

from .errors import nearest, shown
from .safeguards import MOST_DEAD, Mode, Name, Policy

_FIELDS = tuple(one.name for one in fields(Policy))
_WITHOUT = {Name.RETRIES: {"sample"}, Name.DEAD_LETTERS: {"sample"}, Name.PROFILE: {"limit", "sample"}}
_RANGES = {  # of limits: more than this, at most that, and both in words
    Name.DELAY: (0, 86_400_000, "milliseconds, more than 0 and at most 86,400,000 (a day)"),
    Name.FAILURES: (0, 1, "the share of tries that should succeed, more than 0 and at most 1"),
    Name.RETRIES: (0, 1e9, "a number of retries, more than 0 and at most 1,000,000,000"),
    Name.DEAD_LETTERS: (
        0,
        MOST_DEAD - 1,
        f"tasks a minute, more than 0 and at most {MOST_DEAD - 1:,}: no more than {MOST_DEAD:,} are counted",
    ),
    Name.BREAKER: (0, 1, "the share of tries that fail, more than 0 and at most 1"),
    Name.SLOW_HANDLER: (1, 1e6, "how many times as long as before, more than 1 and at most 1,000,000"),
}


def problems_of(given: Mapping[Any, object]) -> Iterator[str]:
    """A sentence for each thing that is wrong with PUNCTUAL["SAFEGUARDS"]."""
    where, known = 'PUNCTUAL["SAFEGUARDS"]', [str(one) for one in Name]
    for name, options in given.items():
        if name not in known:
            yield f"{where} has {shown(name)}; there are {', '.join(known)}.{nearest(str(name), known)}"
        elif not isinstance(options, Mapping):
            yield f'{where}["{name}"] is {shown(options)}; it must be a dict, such as {{"limit": 5, "mode": "tell"}}.'
        else:
            for option, value in options.items():
                yield from _wrong_option(f'{where}["{name}"]', Name(name), option, value)


def _wrong_option(where: str, name: Name, option: object, value: object) -> Iterator[str]:
    known = _options(name)
    if option not in known:
        yield f"{where} has {shown(option)}; it may have {', '.join(known)}.{nearest(str(option), known)}"
    elif option == "mode":
        if value not in tuple(Mode):
            yield f'{where}["mode"] is {shown(value)}; it must be {", ".join(Mode)}.'
    elif option == "sample":
        if not _number(value) or not isinstance(value, int) or not 1 <= value <= 1_000_000:
            yield f'{where}["sample"] is {shown(value)}; it must be a whole number from 1 to 1,000,000.'
    elif option == "limit":
        more_than, most, words = _RANGES[name]
        if not _number(value) or not more_than < value <= most:
            yield f'{where}["limit"] is {shown(value)}; it must be {words}.{_as_share(name, value)}'
    elif option == "trial_seconds":
        if not _number(value) or not 0.1 <= value <= 3_600:
            yield f'{where}["trial_seconds"] is {shown(value)}; it must be a number of seconds, from 0.1 to 3,600.'
    elif not _number(value) or not 0 <= value <= 86_400:
        yield f'{where}["{option}"] is {shown(value)}; it must be a number of seconds, from 0 to 86,400.'


def _options(name: Name) -> list[str]:
    """Those that change something."""
    without = _WITHOUT.get(name, set()) | (set() if name == Name.BREAKER else {"trial_seconds"})
    return [one for one in _FIELDS if one not in without]


def _number(value: object) -> TypeGuard[int | float]:
    return not isinstance(value, bool) and isinstance(value, int | float)


def _as_share(name: Name, value: object) -> str:
    """What was meant by a percentage."""
    if name not in (Name.FAILURES, Name.BREAKER) or not _number(value) or not 1 < value <= 100:
        return ""
    return f" For {value:.6g} %, write {value / 100:.6g}."
