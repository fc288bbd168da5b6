"""django-ninja: the operations of an API, what each takes, and where the schema is."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.http import HttpRequest

from tasks_app.libraries import Uses

with Uses("django-ninja", ">=1.6,<1.8") as uses:
    from ninja import NinjaAPI
    from ninja.openapi.docs import DocsBase
    from ninja.operation import Operation, PathView
    from ninja.params.models import HeaderModel, ParamModel
    from ninja.router import Router

    uses.of(NinjaAPI, "_get_bound_routers")
    uses.set_by(Router.__init__, "path_operations")
    uses.set_by(PathView.__init__, "operations")
    uses.of(Operation, "_get_values")
    uses.set_by(Operation.__init__, "models")
    uses.of(ParamModel, "__ninja_param_source__")
    uses.set_by(HeaderModel.get_request_data, "__ninja_flatten_map__")
    uses.of(DocsBase, "get_openapi_url")


class Page(DocsBase):
    """Of the API; a subclass has `render_page`."""

    def schema_url(self, api: NinjaAPI, options: dict[str, Any]) -> str:
        return self.get_openapi_url(api, options)


def views_of(api: NinjaAPI) -> Iterator[Sequence[Operation]]:
    """The operations of each address. A change to one of them stays."""
    for router in api._get_bound_routers():
        for view in router.path_operations.values():
            yield view.operations


def query_parameters(operation: Operation) -> list[str]:
    return [
        name
        for model in operation.models
        if model.__ninja_param_source__ == "query"
        for name in model.__ninja_flatten_map__
    ]


def check_before_reading(operation: Operation, check: Callable[[HttpRequest], None]) -> None:
    """`check` gets each request when its caller is admitted, before its parameters are read."""
    read = operation._get_values

    def values(request: HttpRequest, path_params: Any, temporal_response: Any) -> dict[str, Any]:
        check(request)
        return read(request, path_params, temporal_response)

    operation._get_values = values  # type: ignore[method-assign]  # it has no other way in
