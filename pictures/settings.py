"""The project's settings, with the handlers of a shop, and names of machines that are the same on every machine."""

import os
import socket
import sys

from scheduler_project.settings import *  # noqa: F403
from scheduler_project.settings import BASE_DIR, DATABASES, INSTALLED_APPS, PUNCTUAL

sys.path.append(str(BASE_DIR / "pictures"))  # its app is called as it would be in somebody's project
INSTALLED_APPS = [*INSTALLED_APPS, "shop"]
# The database is made for the pictures and thrown away, so the scenes may use django_punctual.testing on it.
DATABASES = DATABASES | {"default": DATABASES["default"] | {"TEST": {"NAME": DATABASES["default"]["NAME"]}}}
PUNCTUAL = PUNCTUAL | {"OUTGOING_ALLOW": ["127.0.0.1"]}  # where receiver.py listens

# Pages name processes by their host, and nobody's own machine belongs into a picture.
_host = os.environ.get("PICTURES_HOST", "web-1")
socket.gethostname = lambda: _host
