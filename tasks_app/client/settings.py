"""An app's own settings: a dict in the project's settings as a checked, frozen dataclass, as Punctual reads its own.
`figure` writes their numbers for people."""

from tasks_app.core.phrases import figure
from tasks_app.section import Section, reader

__all__ = ["Section", "figure", "reader"]
