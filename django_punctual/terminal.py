"""Commands that print untrusted text without its control characters."""

from tasks_app.management.terminal import TerminalCommand

__all__ = ["TerminalCommand"]
