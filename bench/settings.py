"""The project's settings plus the handlers that are measured."""

import os

from scheduler_project.settings import *  # noqa: F403
from scheduler_project.settings import INSTALLED_APPS, PUNCTUAL

INSTALLED_APPS = [*INSTALLED_APPS, "bench"]
PUNCTUAL = PUNCTUAL | {"OUTGOING_ALLOW": ["127.0.0.1"]}  # where receiver.py listens
PUNCTUAL = PUNCTUAL | {"API_URL": "http://127.0.0.1:8000/api/v1"}  # receivers.py never reports there

if most := os.environ.get("BENCH_BATCH_MAX"):
    PUNCTUAL = PUNCTUAL | {"BATCH_MAX": int(most), "BATCH_UNSEEN": min(8, int(most))}

if kept := os.environ.get("BENCH_KEPT_EVENTS"):
    PUNCTUAL = PUNCTUAL | {"EVENTS": kept.split()}
