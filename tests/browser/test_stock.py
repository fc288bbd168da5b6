"""What somebody who looks after products does in the browser: sync now, coverage, another window."""

from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import expect

from inventory_app import lifecycle
from inventory_app.lifecycle import NewProduct, import_products
from tests.support.browser import person
from tests.support.stock import known, task_of

MAY = ("inventory_app.view_product", "inventory_app.change_product")
LIST = "/admin/inventory_app/product/"


def test_products_are_synced_now_and_the_window_is_changed_after_a_preview_on_pages_that_fit(visits):
    import_products([known(f"P{n:03}") for n in range(60)] + [NewProduct.of("<b>new</b>", "<script>alert(1)</script>")])
    page = visits.page(person("pia", *MAY), LIST)

    def fits() -> bool:
        return page.evaluate("document.documentElement.scrollWidth") <= 400

    expect(page.get_by_text("never synced", exact=True)).to_be_visible()
    page.locator("input.action-select[value=P000]").check()
    page.get_by_role("combobox").select_option(label="Sync now")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("1 product will be synced now, at the allowed rate.")).to_be_visible()
    assert task_of("P000").due_at <= timezone.now()

    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{LIST}window/")
    page.get_by_label("Days").fill("20")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="After the change by 2 h")).to_be_visible()
    assert fits()
    page.get_by_role("button", name="Change the window to 20 d").click()
    expect(page.get_by_text("The window is now 20 d. 61 scheduled syncs were moved to match.")).to_be_visible()
    assert lifecycle.current_window().length == timedelta(days=20)
