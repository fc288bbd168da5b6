"""What rides on the requests of a web process, whatever they are about: the look whether a beat is left, and the
knock at the database. No request waits for either."""

from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler

from tasks_app.engine.lookout import LOOKOUT

from .door import DOOR
from .standby import STANDBY

_SERVERS = (WSGIHandler, ASGIHandler)  # a test's client is neither


def before_request(sender: type | None, **_: object) -> None:
    if _serves(sender):
        DOOR.measured = True
        DOOR.ride()


def after_request(sender: type | None, **_: object) -> None:
    if _serves(sender) and not STANDBY.reading:  # what a standby knows of beats is as old as the loss of the primary
        LOOKOUT.ride()


def _serves(sender: type | None) -> bool:
    return isinstance(sender, type) and issubclass(sender, _SERVERS)
