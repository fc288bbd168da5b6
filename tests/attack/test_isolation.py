"""The database alone keeps tenants apart."""

import pytest

from tasks_app.storage.isolation import CHILDREN, SHARED, missing_steps, tables

pytestmark = pytest.mark.django_db


def test_every_table_of_a_tenant_is_protected():
    assert missing_steps() == []
    found = tables()
    open_ones = [one.name for one in found if one.rule is not None and not one.forced]
    assert open_ones == []
    unknown = {one.root for one in found if one.rule is None} ^ set(SHARED)
    assert unknown == set()
    assert set(CHILDREN) <= {one.root for one in found}
