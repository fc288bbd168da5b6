"""For DATABASE_ROUTERS: Punctual's tables are in PUNCTUAL["DATABASE"]."""

from tasks_app.router import Router

__all__ = ["Router"]
