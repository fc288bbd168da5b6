"""/stock: an app's own endpoints in the API; for the tenant and the people whom its products concern."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from ninja import Router

from django_punctual import find
from inventory_app.lifecycle import add, change_window
from inventory_app.models import Product
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.routers import Routers
from tasks_app.engine.operations.api_tokens import issue
from tests.support.api import Api
from tests.support.clients import client_of
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

CODES = ["SKU 1/ä", "a", "b"]
PATHS = ["/stock/products", "/stock/products/a", "/stock/window"]


def token(**scope) -> Api:
    return Api(token=issue("stock", "internal", operator(), internal=True, **scope)[1])


@pytest.fixture
def products():
    for code in CODES:
        add(code, f"Product {code}")
    Product.objects.filter(product_code="a").update(stock_quantity=7, stock_synced_at="2026-01-02T09:00:00Z")


def test_products_come_by_code_with_their_stock_and_next_sync(products):
    api = token()

    first = api.get("/stock/products?limit=2").body
    rest = api.get(f"/stock/products?limit=2&after={first['next']}").body
    assert [one["code"] for one in first["items"] + rest["items"]] == CODES and rest["next"] is None
    synced = first["items"][1]
    assert (synced["name"], synced["quantity"], synced["failures"]) == ("Product a", 7, 0)
    assert synced["synced_at"] == "2026-01-02T09:00:00Z"
    assert synced["next_sync_at"][:19] == find("STOCK_SYNC", "a").due_at.isoformat()[:19]
    assert api.get("/stock/products/a").body == synced
    assert api.get("/stock/products/SKU%201%2F%C3%A4").body["code"] == CODES[0]
    assert api.get("/stock/products/nobody").code == "SCH_404_NOT_FOUND"
    assert api.get("/stock/products/%00").code == api.get("/stock/products?after=%00").code == "SCH_422_INVALID"


def test_the_window_is_what_was_chosen_last():
    before = token().get("/stock/window").body
    change_window(timedelta(days=3), actor="olga")

    assert (before["applied"], before["changed_by"]) == (True, "")
    assert token().get("/stock/window").body == {"seconds": 259_200.0, "applied": False, "changed_by": "olga"}


@pytest.mark.parametrize("path", PATHS)
def test_the_stock_is_there_for_those_whom_it_concerns_alone(api, products, path):
    user = User.objects.create_user("vera", is_staff=True)
    rights = Permission.objects.filter(codename__in=["view_jobdefinition", "view_scheduletask"])
    user.user_permissions.set(rights)

    def seen(tenant: str) -> int:
        vera = client_of(User.objects.get(id=user.id))
        return vera.get(f"/api/v1{path}", headers={"X-Tenant": tenant}).status_code

    for stranger in (api, token(types=["T_QUIET"])):
        assert (stranger.get(path).status, stranger.get(path).code) == (404, "SCH_404_NOT_FOUND")
    assert (token(types=["STOCK_SYNC"]).get(path).status, seen("internal")) == (200, 404)
    user.user_permissions.add(Permission.objects.get(codename="view_product"))
    assert (seen("internal"), seen("default")) == (200, 404)


@pytest.mark.parametrize("prefix", ["", "stock", "/", "/a/b", "/A", "/{x}", None])
def test_a_prefix_is_one_word(prefix):
    with pytest.raises(InvalidConfiguration, match="one word of an address"):
        Routers().add(prefix, Router())


def test_a_prefix_has_one_router_and_none_of_our_own():
    routers, mine = Routers(), Router()
    routers.add("/mine", mine)
    routers.add("/mine", mine)

    assert routers.beside({"/tasks"}) == [("/mine", mine)]
    with pytest.raises(InvalidConfiguration, match="has two routers"):
        routers.add("/mine", Router())
    with pytest.raises(InvalidConfiguration, match="one of Punctual's own"):
        routers.beside({"/mine"})
