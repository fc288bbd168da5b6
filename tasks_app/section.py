"""One dict of the project's settings as a frozen dataclass: a field for each setting, checked together, read once."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Self, TypeVar, get_origin

from django.conf import settings
from django.core.signals import setting_changed


@dataclass(frozen=True)
class Section:
    """The base of such a dataclass: says which setting it is, which error it raises, and what is wrong with a value."""

    SETTING: ClassVar[str]  # its name in the settings
    ERROR: ClassVar[type[Exception]]

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise self.ERROR("\n".join(problems))
        for knob in fields(self):
            value = getattr(self, knob.name)
            if knob.type in (float, float | None) and value is not None:
                # `2` is as good as `2.0` in the settings, but not beside a fraction in an array for PostgreSQL.
                object.__setattr__(self, knob.name, float(value))
            elif get_origin(knob.type) is tuple:
                object.__setattr__(self, knob.name, tuple(value))

    def _problems(self) -> Iterator[str]:
        """A sentence for each value that won't do."""
        raise NotImplementedError

    @classmethod
    def _unknown(cls, name: str, value: object, known: set[str]) -> str:
        return f'{cls.SETTING}["{name}"] is not a setting; there are {", ".join(sorted(known))}.'

    @classmethod
    def from_settings(cls, values: Mapping[str, Any]) -> Self:
        if not isinstance(values, Mapping):
            # Not its value, which may be an address with a password.
            raise cls.ERROR(f"{cls.SETTING} is a {type(values).__name__}; it must be a dict from names to values.")
        known = {knob.name for knob in fields(cls)}
        if unknown := [cls._unknown(str(name), value, known) for name, value in values.items() if name not in known]:
            raise cls.ERROR("\n".join(unknown))
        return cls(**values)


S = TypeVar("S", bound=Section)


def reader(section: type[S]) -> Callable[[], S]:
    """A function that answers with the section as the settings have it, read once and again when they change."""

    @cache
    def read() -> S:
        return section.from_settings(getattr(settings, section.SETTING, {}))

    def forget(*, setting: str, **_: object) -> None:
        if setting == section.SETTING:
            read.cache_clear()

    setting_changed.connect(forget, weak=False)
    return read
