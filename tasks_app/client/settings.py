"""An app's own settings: a dict in the project's settings as a checked, frozen dataclass, as Punctual reads its own."""

from tasks_app.section import Section, reader

__all__ = ["Section", "reader"]
