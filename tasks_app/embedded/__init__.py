"""Owns a PostgreSQL and a Valkey without Docker, root or an installation; importing it starts nothing."""

from .errors import EmbeddedError
from .places import kept_secret, open_home
from .stack import Services, ServiceUrls, running, start

__all__ = ["EmbeddedError", "ServiceUrls", "Services", "kept_secret", "open_home", "running", "start"]
