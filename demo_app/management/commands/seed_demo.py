"""`manage.py seed_demo`: all tables, and the admin user with some things to look at, created once."""

import os
from datetime import datetime, timedelta

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from articles_app import lifecycle
from django_punctual import schedule, schedule_many
from django_punctual.terminal import TerminalCommand
from inventory_app.lifecycle import NewProduct, import_products


class Command(TerminalCommand):
    help = (
        "Migrates the database, and creates the admin user (password from PUNCTUAL_ADMIN_PASSWORD) and things to look "
        "at, unless they exist."
    )
    requires_system_checks = ()  # the migration makes them

    def handle(self, *args, **options) -> None:
        # Here and not before: a second process would take as long to start as all that is done here.
        call_command("migrate", interactive=False, skip_checks=False)  # it ends its lines itself
        with transaction.atomic():
            created = self._admin()
            if created:
                self._tasks()
                self._articles()
                self._products()
        self.stdout.write("demo content created" if created else "demo content already exists")

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

    def _articles(self) -> None:
        """Some that go live while you watch, one that is rejected, one that leaves again, and a draft."""
        now = timezone.now()
        # The first within a minute of `make up`, counting what the processes take to start.
        seconds = {40: "The first of today", 120: "A second opinion", 300: "Five past", 3600: "An hour later"}
        for second, title in seconds.items():
            self._submitted(title, "Nothing that anybody would object to.", now + timedelta(seconds=second))
        self._submitted("A scandal", "It contains a forbidden word.", now + timedelta(minutes=3))
        self._submitted("Today only", "Gone in ten minutes.", now + timedelta(minutes=1), now + timedelta(minutes=10))
        self._live("Gone by lunch", "Live for a moment.", now + timedelta(minutes=1), now + timedelta(seconds=90))
        self._draft("Not ready yet", "To be written.", now + timedelta(days=1))

    def _products(self) -> None:
        """Some that are synced at once, and more that were synced before and have their place in the window."""
        before = timezone.now() - timedelta(hours=1)
        new = [NewProduct.of(f"NEW-{n:03}", f"Something new, number {n}") for n in range(1, 51)]
        known = [NewProduct.of(f"OLD-{n:03}", f"Something known, number {n}", n % 40, before) for n in range(1, 451)]
        import_products(new + known)

    def _draft(self, title: str, body: str, publish_time: datetime, offline_time: datetime | None = None) -> int:
        article = lifecycle.create(
            title=title, body=body, author="demo", publish_time=publish_time, offline_time=offline_time
        )
        return article.id

    def _submitted(self, *article: object) -> int:
        article_id = self._draft(*article)
        lifecycle.submit(article_id, actor="demo")
        return article_id

    def _live(self, *article: object) -> None:
        article_id = self._submitted(*article)
        lifecycle.approve(article_id, actor="demo")
        lifecycle.publish_now(article_id, actor="demo")
