"""Owns the PostgreSQL and the Valkey that the project starts for itself; importing it starts nothing."""

from .errors import EmbeddedError
from .stack import Services, ServiceUrls, running, start

__all__ = ["EmbeddedError", "ServiceUrls", "Services", "running", "start"]
