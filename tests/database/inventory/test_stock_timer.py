"""The stock's timer: syncs at 02:00 in Berlin, in the engine, on the pages and in the command."""

import io
import json
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from django_punctual import find
from django_punctual.rolling import Timer, timer_from
from inventory_app.admin.window import waiting_for
from inventory_app.admin.words import span
from inventory_app.coverage import SLACK, horizon, interval_for, read_coverage
from inventory_app.lifecycle import NewProduct, apply_window, change_window, current_window, import_products
from inventory_app.models import Product
from inventory_app.units import STOCK_SYNC
from tasks_app.core.handlers import REGISTRY
from tasks_app.models import ScheduleTask
from tests.support.stock import known, many

pytestmark = pytest.mark.django_db

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
LIST = "/admin/inventory_app/product/"
TEXT = "0 2 * * * Europe/Berlin"


@pytest.fixture
def timer() -> Timer:
    """As if STOCK_ROUND had been set when this process started."""
    declared = REGISTRY.get(STOCK_SYNC)
    REGISTRY.add(replace(declared, timer=timer_from(TEXT)))
    yield timer_from(TEXT)
    REGISTRY.add(declared)


def hours() -> set[str]:
    """At which hours in Berlin something is scheduled; the night when the clocks are put forward has no 02:00."""
    dues = ScheduleTask.objects.filter(task_type=STOCK_SYNC).values_list("due_at", flat=True)
    return {due.astimezone(ZoneInfo("Europe/Berlin")).strftime("%H:%M") for due in dues}


def test_a_catalogue_with_sync_dates_is_spread_over_the_nights(timer):
    import_products([known(f"P{n}") for n in range(300)])

    assert hours() <= {"02:00", "03:00"}
    nights = ScheduleTask.objects.values_list("due_at", flat=True).distinct().count()
    assert 10 <= nights <= 11
    assert max(ScheduleTask.objects.values_list("due_at", flat=True)) <= timezone.now() + 11 * DAY + HOUR


def test_one_that_was_never_synced_does_not_wait_for_the_night(timer):
    import_products([NewProduct.of("new", "New")])

    assert find(STOCK_SYNC, "new").due_at <= timezone.now()


def test_another_window_moves_what_waits_in_proportion_to_the_nights(timer):
    import_products([known(f"P{n}") for n in range(100)])

    change_window(5 * DAY, actor="ann")
    assert apply_window() == 100

    assert current_window().applied and hours() <= {"02:00", "03:00"}
    assert max(ScheduleTask.objects.values_list("due_at", flat=True)) <= timezone.now() + 7 * DAY
    assert 5 <= ScheduleTask.objects.values_list("due_at", flat=True).distinct().count() <= 7


@pytest.mark.parametrize(("by", "overdue"), [(timedelta(seconds=1), 0), (timedelta(seconds=-1), 1)])
def test_a_product_is_overdue_once_its_night_has_passed(timer, by, overdue):
    """Its window may be over since yesterday: as long as no 02:00 has come since, it is nobody's fault."""
    import_products([known("A")])
    window = current_window().length
    night = timer.last(timezone.now() - window * SLACK - timedelta(minutes=1))
    Product.objects.update(stock_synced_at=night - window + by)

    assert (read_coverage().overdue, len(read_coverage().problems())) == (overdue, overdue)


def test_a_window_of_ten_days_with_a_timer_of_a_day_is_a_sync_in_eleven_days(timer):
    """A sync ends a little after 02:00, so ten days later 02:00 has just passed."""
    now = datetime(2027, 1, 6, 12, tzinfo=ZoneInfo("Europe/Berlin"))

    assert interval_for(10 * DAY, timer, now) == 11 * DAY
    assert interval_for(10 * DAY - HOUR, timer, now) == 10 * DAY
    assert interval_for(10 * DAY, None, now) == horizon(10 * DAY, None, now) == 10 * DAY
    assert horizon(10 * DAY, timer, now) == 10 * DAY + 14 * HOUR


def test_the_command_says_when_the_timer_is(timer):
    import_products([known(f"P{n}") for n in range(5)])
    page, told = io.StringIO(), io.StringIO()
    call_command("stock", "coverage", stdout=page)
    call_command("stock", "coverage", "--json", stdout=told)

    assert "timer             At 02:00 every day, Europe/Berlin time; next on " in page.getvalue()
    told = json.loads(told.getvalue())
    assert (
        told["timer"] == "At 02:00 every day, Europe/Berlin time" and sum(told["planned"]) == 5 and told["later"] == 0
    )
    assert abs(told["interval_s"] - 11 * 86_400) <= 3600  # an hour more or less when the clocks change
    assert datetime.fromisoformat(told["timer_next"]) == timer.at_or_after([timezone.now()])[0]


def test_without_a_timer_nothing_is_said_of_one():
    import_products([known("A")])
    page = io.StringIO()
    call_command("stock", "coverage", stdout=page)

    assert "timer" not in page.getvalue() and read_coverage().as_dict()["timer"] is None
    assert read_coverage().interval == current_window().length


def test_the_pages_show_the_timer_and_the_nights(timer):
    many(20)
    Product.objects.update(stock_quantity=1, stock_synced_at=timezone.now())
    user = User.objects.create_user("pia", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="inventory_app"))
    client = Client()
    client.force_login(user)

    page = client.get(f"{LIST}coverage/").content.decode()
    preview = client.post(f"{LIST}window/", {"days": "20", "step": "preview"}).content.decode()

    assert "At 02:00 every day, Europe/Berlin time; next on" in page
    assert f"That is once every {span(interval_for(10 * DAY, timer, timezone.now()))}." in page
    assert "and then for the timer: At 02:00 every day, Europe/Berlin time" in preview
    assert f"A product is synced once every {span(interval_for(20 * DAY, timer, timezone.now()))}" in preview


def test_a_preview_puts_what_waits_into_the_nights(timer):
    now = datetime(2027, 1, 6, 12, 30, tzinfo=ZoneInfo("Europe/Berlin"))

    shown = waiting_for(timer, [1] * 48, HOUR, now)

    # 13 and a half hours to the first 02:00, and a day to the next; what comes after that is in the last step.
    assert {place: count for place, count in enumerate(shown) if count} == {13: 14, 37: 24, 47: 10}
