"""What was recorded stays recorded."""

import pytest
from django.db import DatabaseError, connection, transaction

from tasks_app.admin.rights import LookOnly
from tasks_app.console.site import console
from tasks_app.lifecycle.audit import Entry, audit
from tasks_app.models import AuditEntry
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

WAYS = ("UPDATE {} SET actor = 'eve'", "DELETE FROM {}", "TRUNCATE {}", "TRUNCATE {} RESTART IDENTITY CASCADE")


@pytest.mark.parametrize("table", ["punctual_audit_entry", "article_event"])
@pytest.mark.parametrize("way", WAYS)
def test_a_record_of_what_people_did_can_only_grow(table, way):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(way.format(table))


def test_nor_does_emptying_another_table_take_it_along():
    audit(operator(), "retry", [Entry("task 1", "replayed")])

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE punctual_task, punctual_audit_entry CASCADE")

    assert AuditEntry.objects.count() == 1


def test_no_page_of_the_console_changes_our_rows_but_through_an_order():
    """Django's own forms would leave no entry; what is ordered needs an Operator, and is audited where it is done."""
    ours = {model: pages for model, pages in console()._registry.items() if model._meta.app_label == "punctual"}

    assert len(ours) > 10
    assert [model.__name__ for model, pages in ours.items() if not isinstance(pages, LookOnly)] == []
