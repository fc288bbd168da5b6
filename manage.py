#!/usr/bin/env python3
"""Django's command line for Punctual."""

import os
import sys

from scheduler_project.env import EnvironmentProblem


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except EnvironmentProblem as problem:
        sys.exit(f"manage.py: {problem}")


if __name__ == "__main__":
    main()
