"""Django's management commands: the stream in which they print."""

from typing import Self

from tasks_app.libraries import Uses
from tasks_app.libraries.django import WORKS_WITH

with Uses("Django", WORKS_WITH) as uses:
    from django.core.management.base import OutputWrapper

    uses.set_by(OutputWrapper.__init__, "_out")
    uses.of(OutputWrapper, "style_func")


class Output(OutputWrapper):
    def write_raw(self, text: str) -> None:
        """As it is, to what is inside."""
        self._out.write(text)

    def styled_as(self, other: OutputWrapper) -> Self:
        self.style_func = other.style_func
        return self
