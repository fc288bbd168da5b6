"""Retention classes: how long what is over is kept at hand, and then in the archive; and whose it is."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from .errors import nearest, shown

DEFAULT_CLASS = "default"
KEEP_MINUTES_DAYS = 7  # the figures of each minute; nobody may set it
KEEP_HOURS_DAYS = 31  # those of each hour
TAKEN = ("batch",)  # punctual_past_batch is another table
LONGEST_DAYS = 36_500


@dataclass(frozen=True)
class RetentionClass:
    name: str
    hot_days: float  # at hand, in partitions of their own
    cold_days: float  # until it is this old, in the archive
    tenants: tuple[str, ...] = ()  # whose tasks are kept so, unless their type says otherwise

    @property
    def hot(self) -> timedelta:
        return timedelta(days=self.hot_days)

    @property
    def cold(self) -> timedelta:
        return timedelta(days=self.cold_days)


_OPTIONS = {one.name for one in fields(RetentionClass)} - {"name"}


def problems_of(given: Mapping[Any, object]) -> Iterator[str]:
    """A sentence for each thing that is wrong with PUNCTUAL["RETENTION"]."""
    where = 'PUNCTUAL["RETENTION"]'
    owners: dict[str, str] = {}
    for name, options in given.items():
        if name == DEFAULT_CLASS:
            yield f"{where} has a class 'default'; that one has KEEP_HOT_DAYS and KEEP_COLD_DAYS. Set those."
            continue
        if not isinstance(name, str) or not re.fullmatch("[a-z]{1,20}", name) or name in TAKEN:
            yield (
                f"{where} has a class {shown(name)}; a name is 1 to 20 small letters, since it becomes part of a "
                f"table's name, and not one of {', '.join(TAKEN)}."
            )
            continue
        if not isinstance(options, Mapping):
            yield f'{where}["{name}"] is {shown(options)}; it must be a dict, such as {{"hot_days": 2}}.'
            continue
        for option, value in options.items():
            if option not in _OPTIONS:
                words = f'{where}["{name}"] has {shown(option)}, which is no option of a class.'
                yield f"{words}{nearest(str(option), _OPTIONS)}"
            elif option == "tenants":
                yield from _wrong_tenants(f'{where}["{name}"]["tenants"]', name, value, owners)
            elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_DAYS:
                rule = f"it must be days, more than 0 and at most {LONGEST_DAYS:,}."
                yield f'{where}["{name}"]["{option}"] is {shown(value)}; {rule}'


def _wrong_tenants(where: str, name: str, value: object, owners: dict[str, str]) -> Iterator[str]:
    if not isinstance(value, list | tuple | set) or not all(isinstance(tenant, str) for tenant in value):
        yield f"{where} is {shown(value)}; it must be a list of tenants, such as ['acme']."
        return
    for tenant in value:
        if owners.setdefault(tenant, name) != name:
            yield f"{where} has {shown(tenant)}, which is in {owners[tenant]!r} already; a tenant is in one class."
