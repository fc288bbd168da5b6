"""Undocumented parts of other libraries, one module per library (docs/private-apis.md).

A process that needs a library imports its module at the start, and the module checks the parts that it uses. If a
release lacks one of them, the process ends with a message instead of an AttributeError in the middle of its work.
"""

from inspect import unwrap
from types import CodeType, TracebackType
from typing import Any

from tasks_app.core.errors import PunctualError


class UnsupportedLibrary(PunctualError, ImportError):
    """A library lacks something that Punctual uses."""


class Uses:
    """`with Uses("redis", ">=8,<9") as uses:` around the imports of a library, and then what is used of them."""

    def __init__(self, package: str, works_with: str) -> None:
        self._package, self._works_with = package, works_with
        self._missing: list[str] = []

    def __enter__(self) -> "Uses":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, ImportError | AttributeError | TypeError):
            found = _version(self._package)
            if found is None:
                return  # it is not installed, which the error says
            raise self._unsupported(str(error).partition(" (")[0], found) from error
        if error is None and self._missing:
            raise self._unsupported(f"{', '.join(self._missing)} not found", _version(self._package) or "?")

    def of(self, owner: Any, *names: str) -> None:
        """Attributes of a class, a module or an instance."""
        self._missing += [f"{owner.__name__}.{name}" for name in names if not hasattr(owner, name)]

    def set_by(self, made: Any, *names: str) -> None:
        """Attributes that an __init__, or another function, gives to an instance or reads of it."""
        code: CodeType | None = getattr(unwrap(made), "__code__", None)
        known = code.co_names if code else ()
        self._missing += [f"{made.__qualname__}: {name}" for name in names if name not in known]

    def _unsupported(self, what: str, found: str) -> UnsupportedLibrary:
        return UnsupportedLibrary(
            f"Punctual does not work with {self._package} {found}: {what}. It works with "
            f"{self._package}{self._works_with}. Install that, or a newer django-punctual."
        )


def _version(package: str) -> str | None:
    import platform  # these take long to import, and most processes need neither
    from importlib import metadata

    try:
        return platform.python_version() if package == "Python" else metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
