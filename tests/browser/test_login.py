"""The first thing that anybody sees."""

from playwright.sync_api import expect

from tests.support.browser import PASSWORD, person


def test_a_person_logs_in_by_the_form(visits):
    person("ann", superuser=True)
    page = visits.page(path="/")
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()

    expect(page).to_have_url(f"{visits.url}/admin/")
