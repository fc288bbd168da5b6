"""The registry of routers: endpoints that other apps have in the REST API. Each app gives its own."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import InvalidConfiguration


class Routers:
    def __init__(self) -> None:
        self._routers: dict[str, Any] = {}  # ninja's, which core does not know
        self.says: dict[str, str] = {}  # what the schema says about a tag

    def add(self, prefix: str, router: Any, tag: str = "", says: str = "") -> None:
        if not isinstance(prefix, str) or not re.fullmatch(r"/[a-z][a-z0-9-]*", prefix):
            raise InvalidConfiguration(
                f"the prefix {prefix!r} of a router must be one word of an address, such as '/invoices'."
            )
        if self._routers.setdefault(prefix, router) is not router:
            raise InvalidConfiguration(f"the prefix {prefix!r} has two routers. Choose another for one of them.")
        if tag:
            self.says[tag] = says

    def beside(self, taken: set[str]) -> list[tuple[str, Any]]:
        """All of them, unless one has the prefix of something else."""
        for prefix in self._routers:
            if prefix in taken:
                raise InvalidConfiguration(
                    f"the prefix {prefix!r} of a router is one of Punctual's own; choose another."
                )
        return list(self._routers.items())


ROUTERS = Routers()


View = TypeVar("View", bound=Callable[..., object])


def may_answer(*codes: str) -> Callable[[View], View]:
    """The problems that a view has of its own; those that its parameters bring, the schema finds by itself."""

    def marked(view: Any) -> Any:
        view.problems = codes
        return view

    return marked
