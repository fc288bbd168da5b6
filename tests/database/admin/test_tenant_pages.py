"""The pages of tenants: what they show, who may act, and bad input."""

from uuid import uuid4

import pytest

from tasks_app.lifecycle import tenants
from tasks_app.models import Tenant, TenantArchive
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import run_due
from tests.support.moves import scheduled
from tests.support.operators import operator as by

pytestmark = pytest.mark.django_db

TENANTS = "/admin/punctual/tenant/"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def operator():
    return client_of(person("olga", "punctual.view_tenant", "punctual.operate_tenant"))


@pytest.fixture
def viewer():
    return client_of(person("vera", "punctual.view_tenant"))


def form(**given: object) -> dict:
    return {"reason": "they asked", "operation": str(uuid4()), "weight": "100"} | given


def test_a_tenant_is_archived_by_whoever_types_its_name_and_that_can_be_stopped(operator, viewer, settings, tmp_path):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    tenants.create("acme", by())
    assert viewer.post(f"{TENANTS}archive/acme/", form(name="acme")).status_code == 403
    assert "is not its name" in operator.post(f"{TENANTS}archive/acme/", form(name="acma")).text
    assert not TenantArchive.objects.exists()

    assert operator.post(f"{TENANTS}archive/acme/", form(name="acme", destroy_key="on")).status_code == 302
    assert "Stop archiving" in operator.get(f"{TENANTS}show/acme/").text
    assert operator.post(f"{TENANTS}stop-archiving/acme/", form()).status_code == 302
    page = operator.get(f"{TENANTS}show/acme/").text
    assert "Continue archiving" in page and "stopped by hand" in page
    assert operator.post(f"{TENANTS}continue-archiving/acme/", form()).status_code == 302
    row = TenantArchive.objects.get()
    assert (row.state, row.destroy_key, row.ordered_by) == ("RUNNING", True, "olga")

    Tenant.objects.filter(name="acme").update(state="ARCHIVED")
    TenantArchive.objects.update(state="DONE", removed=5)
    page = operator.get(f"{TENANTS}show/acme/").text
    assert "Archived on" in page and "5 rows are in the archive" in page and "Change …" not in page


def test_a_tenant_is_made_changed_suspended_and_resumed_each_with_a_reason(operator):
    assert operator.post(f"{TENANTS}add/", form(name="acme/eu", max_tasks="5")).status_code == 302
    assert operator.post(f"{TENANTS}edit/acme/eu/", form(title="Acme", contacts="a@example.com")).status_code == 302
    row = Tenant.objects.get(name="acme/eu")
    assert (row.title, row.contacts, row.max_tasks) == ("Acme", ["a@example.com"], None)

    assert operator.post(f"{TENANTS}suspend/acme/eu/", form(until="2090-01-01 09:00")).status_code == 302
    assert Tenant.objects.get(name="acme/eu").suspended
    assert operator.post(f"{TENANTS}resume/acme/eu/", form()).status_code == 302
    assert list(deeds().filter(subject="tenant acme/eu").order_by("id").values_list("verb", flat=True)) == [
        "create",
        "edit",
        "suspend",
        "resume",
    ]


def test_what_was_changed_since_the_page_was_opened_is_not_set_back(operator):
    seen = tenants.version_of(tenants.create("acme", by()))
    assert seen in operator.get(f"{TENANTS}edit/acme/").content.decode().replace("&#x2B;", "+")
    tenants.edit("acme", {"max_tasks": 5}, by())

    answer = operator.post(f"{TENANTS}edit/acme/", form(title="Acme", seen=seen))

    assert (answer.status_code, "after you opened it" in answer.content.decode()) == (400, True)
    assert Tenant.objects.get(name="acme").max_tasks == 5


def test_the_pages_show_why_one_is_suspended_and_what_waits(viewer):
    tenants.create("acme", by(), title=SCRIPT, max_tasks=10)
    tenants.suspend("acme", by("the invoice is open"))
    scheduled("a", tenant="acme")
    run_due()

    listed = viewer.get(TENANTS).content.decode()
    shown = viewer.get(f"{TENANTS}show/acme/").content.decode()

    assert "the invoice is open" in listed and SCRIPT not in listed and "Resume" not in listed
    assert "1 tasks came due meanwhile" in shown and "no limit" in shown and SCRIPT not in shown


def test_who_only_looks_changes_nothing_and_bad_input_is_named(viewer, operator):
    tenants.create("acme", by())

    assert viewer.post(f"{TENANTS}suspend/acme/", form()).status_code == 403
    assert viewer.get(f"{TENANTS}add/").status_code == 403
    bad = operator.post(f"{TENANTS}edit/acme/", form(contacts="nobody"))
    assert bad.status_code == 400 and "is no mail address" in bad.content.decode()
    assert "already" in operator.post(f"{TENANTS}add/", form(name="acme")).content.decode()
    late = operator.post(f"{TENANTS}suspend/acme/", form(until="2020-01-01 09:00"))
    assert late.status_code == 400 and "has passed already" in late.content.decode()
    assert operator.get(f"{TENANTS}show/nobody/").status_code == 404
