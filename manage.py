#!/usr/bin/env python3
"""Django's command line for Punctual."""

import gc
import os
import sys

from scheduler_project.env import NO_STACK, EnvironmentProblem, service_urls


def main() -> None:
    gc.set_threshold(50_000, 20, 10)  # nearly all that imports and migrations make is kept
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except EnvironmentProblem as problem:
        sys.exit(f"manage.py: {problem}")
    except OperationalError:
        if any(service_urls()):
            raise
        sys.exit(f"manage.py: {NO_STACK}")
    finally:
        gc.freeze()  # else the interpreter looks through all of it before it ends


if __name__ == "__main__":
    main()
