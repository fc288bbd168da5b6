"""`manage.py seed_demo`: the admin user and some tasks to look at, created once."""

import os
from datetime import timedelta

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils import timezone

from tasks_app.client import schedule, schedule_many


class Command(BaseCommand):
    help = "Creates the admin user (password from PUNCTUAL_ADMIN_PASSWORD) and demo tasks, unless they exist."

    def handle(self, *args, **options) -> None:
        with transaction.atomic():
            created = self._admin()
            if created:
                self._tasks()
        self.stdout.write("demo content created" if created else "demo content is there already")

    def _admin(self) -> bool:
        user, created = get_user_model().objects.get_or_create(
            username="admin", defaults={"is_staff": True, "is_superuser": True}
        )
        password = os.environ.get("PUNCTUAL_ADMIN_PASSWORD")
        if password and not user.check_password(password):
            user.set_password(password)
            user.save(update_fields=["password"])
        return created

    def _tasks(self) -> None:
        now = timezone.now()
        minute_by_minute = [{"key": f"minute-{n}", "at": now + timedelta(minutes=n)} for n in range(1, 31)]
        schedule_many("DEMO_HELLO", minute_by_minute)
        schedule("DEMO_HELLO", "every-20-seconds", repeat_after=20)
        schedule("DEMO_FLAKY", "fails-twice", payload={"failures": 2}, delay=5)
        schedule("DEMO_BROKEN", "hopeless", delay=5)
