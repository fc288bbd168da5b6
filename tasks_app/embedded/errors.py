"""Owns the one exception of the embedded services; its text is a sentence for the person at the keyboard."""

from __future__ import annotations


class EmbeddedError(Exception):
    """The embedded services can't do what was asked; ``str(error)`` says why and what to do."""
