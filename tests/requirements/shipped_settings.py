"""The settings that ship, with the test app beside the shipped ones; for the processes that these tests start."""

from scheduler_project.settings import *  # noqa: F403
from scheduler_project.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.support.testapp"]
