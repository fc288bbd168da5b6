"""The heading of a page says where it belongs and what it is."""

import re
from html import unescape

import pytest
from django.contrib.auth import get_user_model

from inventory_app.models import Product
from tests.support.clients import client_of

pytestmark = pytest.mark.django_db

ADMIN = "/admin/"
HEADINGS = {
    "": ["Overview"],
    "punctual/scheduletask/": ["Punctual", "Tasks"],
    "punctual/taskbatch/": ["Punctual", "Batches"],
    "punctual/node/": ["Punctual", "Fleet"],
    "punctual/node/lane/low/": ["Punctual", "Fleet", "Pause lane low"],
    "punctual/jobdefinition/add/": ["Punctual", "Jobs", "New job"],
    "articles_app/article/": ["Articles"],
    "articles_app/article/calendar/": ["Articles", "Calendar of articles"],
    "inventory_app/product/coverage/": ["Stock", "Products", "Coverage"],
    "auth/user/": ["Authentication and Authorization", "Users"],
    "auth/user/add/": ["Authentication and Authorization", "Users", "Add user"],
}


@pytest.fixture
def client():
    return client_of(get_user_model().objects.create_superuser("boss"))


def heading(page: str) -> str:
    return re.search(r"<h1.*?</h1>", page, re.DOTALL)[0]


def steps(page: str) -> list[str]:
    seen = re.sub(r'<span [^>]*aria-hidden="true">.*?</span>', "", heading(page))
    words = [unescape(one).strip() for one in re.sub(r"<[^>]+>", "\n", seen).split("\n")]
    return [one for one in words if one]


@pytest.mark.parametrize("address", HEADINGS)
def test_a_page_is_named_after_what_it_is_and_says_no_step_twice(client, address):
    assert steps(client.get(ADMIN + address).content.decode()) == HEADINGS[address]


def test_the_page_of_one_thing_ends_with_its_name_which_leads_to_it(client):
    boss = get_user_model().objects.get()
    page = client.get(f"{ADMIN}auth/user/{boss.id}/delete/").content.decode()
    assert steps(page)[1:] == ["Users", "boss"]
    assert f'href="{ADMIN}auth/user/{boss.id}/change/"' in heading(page)


def test_what_somebody_typed_is_escaped_in_a_heading(client):
    bold = get_user_model().objects.create_user("<b>bold</b>")
    shown = heading(client.get(f"{ADMIN}auth/user/{bold.id}/change/").content.decode())
    assert "&lt;b&gt;bold" in shown and "<b>" not in shown


def test_a_key_that_the_admin_would_read_otherwise_leads_to_its_page(client):
    Product.objects.create(product_code="SKU_3A24", name="By hand")
    page = client.get(f"{ADMIN}inventory_app/product/SKU_5F3A24/change/").content.decode()
    link = re.findall(r'href="([^"]+)"', heading(page))[-1]
    assert client.get(link).status_code == 200
