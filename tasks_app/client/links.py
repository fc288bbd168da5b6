"""Links from a task in the console to the page of what it is about."""

from tasks_app.core.links import LINKS, Link, MakeLink

__all__ = ["Link", "register_link"]


def register_link(task_type: str, make: MakeLink) -> None:
    """Show people the way from a task of this type to what it is about: `make(key)` gives Link(url, text), or None.

    Put it in a module named `links` of an installed app.
    """
    LINKS.add(task_type, make)
