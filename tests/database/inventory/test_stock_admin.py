"""The pages about products: what they show, what they do, and for whom."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.messages import get_messages
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory_app import lifecycle, stock
from inventory_app.admin import products as products_page
from inventory_app.admin.window import stretched
from inventory_app.coverage_history import note_coverage
from inventory_app.lifecycle import NewProduct, import_products
from inventory_app.models import Product
from tasks_app.core.states import NEVER
from tasks_app.lifecycle.reap import reap
from tasks_app.models import ScheduleTask
from tasks_app.pages import lists
from tests.support.clients import client_of
from tests.support.engine import expire_lease
from tests.support.stock import claim_product, known, product, task_of

pytestmark = pytest.mark.django_db

LIST = "/admin/inventory_app/product/"
ADD, COVERAGE, WINDOW = f"{LIST}add/", f"{LIST}coverage/", f"{LIST}window/"
SCRIPT = "<script>alert(1)</script>"


def person(*may: str, name: str = "pia") -> Client:
    user = get_user_model().objects.create_user(name, is_staff=True)
    for one in may:
        user.user_permissions.add(Permission.objects.get(codename=f"{one}_product"))
    return client_of(user)


def said(answer) -> str:
    return " ".join(str(message) for message in get_messages(answer.wsgi_request))


def test_the_list_shows_quantity_age_outcome_and_next_sync():
    import_products([known("A", timezone.now() - timedelta(hours=5), quantity=12), NewProduct.of("B", SCRIPT)])
    ScheduleTask.objects.filter(biz_key="A").update(status="FAIL", error_code=stock.TIMEOUT, error_msg=SCRIPT)
    page = person("view").get(LIST).content.decode()
    for words in ("12", "5 h ago", "failed: no answer in time", "never synced", "due, waiting for its turn"):
        assert words in page
    assert SCRIPT not in page
    ScheduleTask.objects.filter(biz_key="B").update(due_at=NEVER)
    page = person("view", name="paul").get(LIST).content.decode()
    assert "put aside for now" in page and not re.search(r"in \d{5,} d", page)


def test_a_sync_that_was_interrupted_is_not_called_untried():
    import_products([known("A")])
    batch = claim_product("A")
    ScheduleTask.objects.update(finish_time=timezone.now() - timedelta(days=10))
    expire_lease(str(batch))
    reap()
    assert "interrupted, will run again" in person("view").get(LIST).content.decode()


@pytest.mark.parametrize(("asked", "shown"), [("show=never", "B"), ("show=late", "C"), ("q=A", "A"), ("q=hing b", "B")])
def test_the_list_can_be_asked(asked, shown):
    import_products([known("A"), NewProduct.of("B", "A thing b"), known("C", timezone.now() - timedelta(days=11))])
    found = person("view").get(f"{LIST}?{asked}").context["cl"].result_list
    assert [one.product_code for one in found] == [shown]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("failing", ["A", "B", "C"]),
        (f"failing:{stock.TIMEOUT}", ["A"]),
        (f"failing:{stock.NOT_FOUND}", ["B"]),
        ("failing:LOST", ["C"]),
        ("failing:", []),
        ("failing:%00", []),
        (f"failing:{'x' * 10_000}", []),
        ("failing:<script>", []),
    ],
)
def test_failing_products_are_found_by_their_cause(asked, shown):
    import_products([known(code) for code in "ABCD"])
    for code, cause in (("A", stock.TIMEOUT), ("B", stock.NOT_FOUND), ("C", "LOST")):
        ScheduleTask.objects.filter(biz_key=code).update(status="FAIL", error_code=cause)
    answer = person("view").get(f"{LIST}?show={asked}")
    assert [one.product_code for one in answer.context["cl"].result_list] == shown
    page = answer.content.decode()
    assert "?show=failing%3ASTOCK_TIMEOUT" in page and "failing:<script>" not in page


def test_what_the_coverage_says_of_failures_leads_to_them():
    import_products([known("A"), known("B")])
    ScheduleTask.objects.filter(biz_key="A").update(status="FAIL", error_code=stock.TIMEOUT)
    client = person("view")
    page = client.get(COVERAGE).content.decode()
    for link in ("?show=failing", f"?show=failing:{stock.TIMEOUT}"):
        assert f'href="{LIST}{link}"' in page
        assert [one.product_code for one in client.get(LIST + link).context["cl"].result_list] == ["A"]


def test_counting_stops_at_a_bound_and_says_so(monkeypatch):
    import_products([known(code) for code in "ABC"])
    client = person("view")
    assert "3 products" in client.get(LIST).content.decode()
    assert "1 product\n" in client.get(f"{LIST}?q=A").content.decode()
    monkeypatch.setattr(lists, "COUNTED", 2)
    monkeypatch.setattr(products_page, "COUNTED", 2)
    assert "2 or more products" in client.get(LIST).content.decode()


def test_the_list_asks_for_all_tasks_of_a_page_at_once(django_assert_max_num_queries):
    import_products([NewProduct.of(f"P{n}", "A thing") for n in range(40)])
    client = person("view")
    with django_assert_max_num_queries(12):
        client.get(LIST)


def test_a_product_is_added_renamed_and_removed_with_its_task():
    client = person("view", "add", "change", "delete")
    client.post(ADD, {"product_code": "A/1", "name": "A thing"})
    assert task_of("A/1").live
    client.post(f"{LIST}A_2F1/change/", {"name": "Another"})
    assert product("A/1").name == "Another"
    client.post(f"{LIST}A_2F1/delete/", {"post": "yes"})
    assert not Product.objects.exists() and task_of("A/1").status == "CANCELLED"


def test_removing_a_selection_cancels_their_tasks():
    import_products([NewProduct.of(code, "A thing") for code in "ABC"])
    sent = {"action": "delete_selected", "_selected_action": ["A", "B"], "post": "yes"}
    person("view", "delete").post(LIST, sent)
    assert [task_of(code).status for code in "ABC"] == ["CANCELLED", "CANCELLED", "INIT"]


def test_no_more_are_removed_at_once_than_a_request_can_carry_out(monkeypatch):
    import_products([NewProduct.of(code, "A thing") for code in "ABC"])
    monkeypatch.setattr(products_page, "REMOVE_MOST", 2)
    sent = {"action": "delete_selected", "_selected_action": ["A"], "select_across": "1"}
    client = person("view", "delete")
    for step in ({}, {"post": "yes"}):
        assert said(client.post(LIST, sent | step)).startswith("Nothing was deleted: at most 2 products")
    assert Product.objects.count() == 3


@pytest.mark.parametrize("address", [f"{LIST}A/delete/", LIST])
def test_what_somebody_else_has_removed_a_moment_ago_is_gone_and_no_error(address, monkeypatch):
    import_products([NewProduct.of(code, "A thing") for code in "AB"])
    remove = lifecycle.remove

    def second(code: str, actor: str) -> None:
        if code == "A":
            remove(code, actor="somebody else")
        remove(code, actor=actor)

    monkeypatch.setattr(lifecycle, "remove", second)
    sent = {"action": "delete_selected", "_selected_action": ["A", "B"], "post": "yes"}
    assert person("view", "delete").post(address, sent).status_code == 302
    assert [task_of(code).status for code in "AB"] == ["CANCELLED", "INIT" if "delete" in address else "CANCELLED"]


@pytest.mark.parametrize("code", ["", "x" * 201, " ", "A\0", "A1"])
def test_a_code_that_will_not_do_is_refused_on_the_page(code):
    lifecycle.add("A1", "A thing")
    answer = person("view", "add").post(ADD, {"product_code": code, "name": "Another"})
    assert answer.status_code == 200 and Product.objects.count() == 1


def test_a_code_that_no_product_can_have_is_answered_and_not_an_error():
    client = person("view", "change", "delete")
    assert client.get(f"{LIST}A%00/change/").status_code == 302
    assert client.get(f"{LIST}{'x' * 300}/change/").status_code == 302
    assert client.get(f"{LIST}?q=%00").status_code == 200
    assert client.get(f"{LIST}?show=%00").status_code == 400
    sent = {"action": "sync_now", "_selected_action": ["A\0"]}
    assert client.post(LIST, sent).status_code == 400


@pytest.mark.parametrize(("typed", "codes"), [("lamp", ["A", "B"]), ("nothing like it", [])])
def test_a_search_by_name_reads_the_names_once(typed, codes):
    import_products([NewProduct.of("A", "Desk lamp"), NewProduct.of("B", "Lampshade"), NewProduct.of("C", "Chair")])
    client = person("view")
    with CaptureQueriesContext(connection) as asked:
        page = client.get(LIST, {"q": typed})
    assert [one.product_code for one in page.context["cl"].result_list] == codes
    assert sum("UPPER" in (one["sql"] or "") for one in asked) == 1


def test_a_search_by_name_that_finds_many_finds_all_of_them(monkeypatch):
    monkeypatch.setattr(products_page, "FEW", 1)
    import_products([NewProduct.of("B", "Lampshade"), NewProduct.of("A", "Desk lamp")])
    page = person("view").get(LIST, {"q": "lamp"})
    assert [one.product_code for one in page.context["cl"].result_list] == ["A", "B"]


def test_sync_now_says_what_it_did():
    import_products([known("A"), known("B")])
    answer = person("view", "change").post(LIST, {"action": "sync_now", "_selected_action": ["A"]})
    assert said(answer) == "1 product will be synced now, at the allowed rate."
    assert task_of("A").due_at <= timezone.now() < task_of("B").due_at


def test_coverage_has_figures_a_chart_and_the_causes_of_failures():
    import_products([known(f"P{n}") for n in range(30)])
    ScheduleTask.objects.filter(biz_key__in=["P1", "P2"]).update(status="FAIL", error_code=stock.NOT_FOUND)
    note_coverage()
    client = person("view")
    page = client.get(f"{COVERAGE}?range=30d").content.decode()
    assert "At least 100.0% were fresh whenever it was noted" in page
    assert '<a href="?range=30d#history" aria-current="true">' in page
    assert client.get(f"{COVERAGE}?range=1y").status_code == 400
    for words in ("100.0%", "30 products", "Scheduled syncs by hour", "unknown to the stock system", "STOCK_NOT_FOUND"):
        assert words in page
    assert (
        "<script>" not in page.split("<main", 1)[-1]
        and "style=" not in page.split('class="pu"', 1)[1].split("</main")[0]
    )


def test_coverage_of_nothing_is_a_page_too():
    assert person("view").get(COVERAGE).status_code == 200


def test_a_window_is_changed_after_a_preview_and_only_as_shown():
    import_products([known(f"P{n}") for n in range(30)])
    client = person("view", "change")
    shown = client.post(WINDOW, {"days": "20", "step": "preview"})
    assert shown.context["preview"]["seconds"] == "1728000.0"
    assert "Change the window to 20 d" in shown.content.decode()
    assert lifecycle.current_window().length == timedelta(days=10)

    again = client.post(WINDOW, {"days": "30", "step": "change", "shown": "1728000.0"})
    assert again.context["changed_since"] and lifecycle.current_window().length == timedelta(days=10)

    done = client.post(WINDOW, {"days": "20", "step": "change", "shown": "1728000.0"})
    assert said(done) == "The window is now 20 d. 30 scheduled syncs were moved to match."
    assert lifecycle.current_window() == lifecycle.Window(timedelta(days=20), True, "pia")


def test_only_a_preview_of_a_window_reads_the_outlook_which_takes_longest():
    client = person("view", "change")

    def reads_outlook(ask: Callable[[], HttpResponse]) -> bool:
        statements = []

        def note(execute, sql, *given):  # CaptureQueriesContext knows no text of what our own cursor runs
            statements.append(sql)
            return execute(sql, *given)

        with connection.execute_wrapper(note):
            assert ask().status_code == 200
        return any(str(sql).startswith("-- outlook:") for sql in statements)

    assert not reads_outlook(lambda: client.get(WINDOW))
    assert not reads_outlook(lambda: client.post(WINDOW, {"days": "x", "step": "preview"}))
    assert reads_outlook(lambda: client.post(WINDOW, {"days": "20", "step": "preview"}))


@pytest.mark.parametrize("sent", [{}, {"days": "0"}, {"days": "-1"}, {"days": "99999"}, {"days": "x"}])
def test_a_window_that_is_none_is_refused(sent):
    answer = person("view", "change").post(WINDOW, sent | {"step": "change", "shown": "0.0"})
    assert answer.status_code == 200 and answer.context["form"].errors
    assert lifecycle.current_window().length == timedelta(days=10)


def test_a_preview_says_when_it_is_too_much(settings):
    settings.STOCK = {"RATE": 0.001}
    import_products([known(f"P{n}") for n in range(30)])
    answer = person("view", "change").post(WINDOW, {"minutes": "1", "step": "preview"})
    assert "more than the stock system allows" in answer.content.decode()


def test_a_stretched_load_has_the_same_sum():
    assert stretched([4, 4], 2, 4) == [2, 2, 2, 2]
    assert stretched([2, 2, 2, 2], 0.5, 2) == [4, 4]
    assert sum(stretched([10] * 24, 1.5, 36)) == 240


@pytest.mark.parametrize("address", [LIST, COVERAGE])
def test_who_may_not_look_sees_nothing(address):
    assert person().get(address).status_code == 403


def test_who_may_look_can_change_nothing():
    import_products([known("A")])
    client, due = person("view"), task_of("A").due_at
    assert client.get(WINDOW).status_code == 403
    assert client.post(WINDOW, {"days": "1", "step": "change", "shown": "86400.0"}).status_code == 403
    assert client.post(ADD, {"product_code": "B", "name": "x"}).status_code == 403
    assert client.post(f"{LIST}A/delete/", {"post": "yes"}).status_code == 403
    client.post(f"{LIST}A/change/", {"name": "Mine"})
    client.post(LIST, {"action": "sync_now", "_selected_action": ["A"]})
    assert product("A").name == "Product A" and task_of("A").due_at == due
    assert "Change the window" not in client.get(COVERAGE).content.decode()
    assert Product.objects.count() == 1
