"""The archive of finished tasks, as Python code reads it."""

from tasks_app.archive.place import the_archive
from tasks_app.archive.search import ColdFilter, search

__all__ = ["ColdFilter", "search", "the_archive"]
