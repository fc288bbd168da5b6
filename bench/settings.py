"""The project's settings plus the handlers that are measured."""

import os

from scheduler_project.settings import *  # noqa: F403
from scheduler_project.settings import INSTALLED_APPS, PUNCTUAL

INSTALLED_APPS = [*INSTALLED_APPS, "bench"]

if events := os.environ.get("BENCH_EVENTS"):
    PUNCTUAL = PUNCTUAL | {"EVENTS": events.split(",")}
if most := os.environ.get("BENCH_BATCH_MAX"):
    PUNCTUAL = PUNCTUAL | {"BATCH_MAX": int(most), "BATCH_UNSEEN": min(8, int(most))}
