"""What we use of django-ninja that it never promised."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from django.contrib.staticfiles import finders
from django.test import RequestFactory
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase


@pytest.fixture
def api() -> NinjaAPI:
    made = NinjaAPI(urls_namespace="private-apis")

    @made.get("/things")
    def things(request, first: int = 1, second: str = ""):
        return first

    return made


def _operation(api: NinjaAPI):
    [view] = [view for router in api._get_bound_routers() for view in router.path_operations.values()]
    [operation] = view.operations
    return operation


def test_ninja_has_its_root_as_the_last_address(api):
    (*own, root), _, namespace = api.urls

    assert (root.name, namespace) == ("api-root", "private-apis")
    assert all(callable(one.callback) for one in own)
    assert len(own) == 3  # the schema, its page and the operation


def test_ninja_has_its_operations_in_its_routers(api):
    assert _operation(api).methods == ["GET"]
    assert api._get_bound_routers() is api._get_bound_routers()  # what we change in them stays


def test_ninja_reads_its_parameters_in_one_place(api):
    operation = _operation(api)
    read, seen = operation._get_values, []
    operation._get_values = lambda request, *args: seen.append(request) or read(request, *args)

    answer = operation.run(request := RequestFactory().get("/things", {"first": "7"}))

    assert (answer.content, seen) == (b"7", [request])


def test_ninja_tells_the_names_of_its_query_parameters(api):
    [model] = _operation(api).models

    assert model.__ninja_param_source__ == "query"
    assert list(model.__ninja_flatten_map__) == ["first", "second"]


def test_ninja_knows_where_its_schema_is():
    assert DocsBase.get_openapi_url(None, SimpleNamespace(urls_namespace="punctual-api"), {}) == "/api/v1/openapi.json"


def test_ninja_has_the_parts_of_its_page():
    files = [finders.find(f"ninja/swagger-ui{name}") for name in (".css", "-bundle.js", "-init.js")]
    begin = Path(files[2]).read_text()
    assert all(files) and "swagger-settings" in begin and '"#swagger-ui"' in begin
    assert all(name in begin for name in ("apiCsrf", "csrfToken"))  # of the page's body
