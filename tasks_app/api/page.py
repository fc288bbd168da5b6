"""The page that shows the API to people: the list of its operations, and one part of them at a time in Swagger UI.

A part has its operations and the schemas that they name, since Swagger UI goes through all it is given before it opens
the first one: of the whole schema that takes a browser ten seconds.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI

from tasks_app.libraries import ninja
from tasks_app.pages.language import speaking, told_by

from .problems import Problem, respond

SHOWN = 40  # characters of what was sent
UNTAGGED = "default"  # as Swagger UI calls it


class Line(NamedTuple):
    method: str
    path: str
    summary: str
    anchor: str  # as Swagger UI writes it


class Part(NamedTuple):
    name: str
    says: str
    address: str
    lines: list[Line]


class Page(ninja.Page):
    def render_page(self, request: HttpRequest, api: NinjaAPI, **options: object) -> HttpResponse:
        schema = api.get_openapi_schema(path_params=options)
        parts = _parts(schema)
        context = {"title": schema["info"]["title"], "schema": self.schema_url(api, options)}
        name = request.GET.get("part")
        if name is None:
            return _page(request, "api_list", context | {"parts": parts})
        if name not in (known := [part.name for part in parts]):
            words = f"The API has no part {name[:SHOWN]!r}; its parts are {', '.join(known)}. Leave it out to see all."
            return respond(Problem("SCH_404_NOT_FOUND", words))
        spec = _schema_of(schema, name)
        # As Swagger UI takes them; in a block of JSON, no text can end it.
        settings = {"spec": spec, "layout": "BaseLayout", "deepLinking": True, "defaultModelsExpandDepth": 0}
        context |= {"part": name, "settings": json.dumps(settings).replace("<", "\\u003c")}
        return _page(request, "api_part", context)


def _page(request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
    with speaking(request):  # what stands around the schema, which is in English
        answer = render(request, f"tasks_app/{name}.html", context)
    told_by(request, answer)
    return answer


def _parts(schema: dict[str, Any]) -> list[Part]:
    """In the order of the tags; what other apps have without one comes last."""
    says = {tag["name"]: tag["description"] for tag in schema["tags"]}
    lines: dict[str, list[Line]] = {name: [] for name in says}
    for path, methods in schema["paths"].items():
        for method, one in methods.items():
            name = _part_of(one)
            anchor = f"#/{quote(name)}/{one['operationId']}"
            lines.setdefault(name, []).append(Line(method.upper(), path, one["summary"], anchor))
    return [Part(name, says.get(name, ""), f"?part={quote(name)}", found) for name, found in lines.items() if found]


def _part_of(operation: dict[str, Any]) -> str:
    return next(iter(operation.get("tags", ())), UNTAGGED)


def _schema_of(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """The schema as if it had this part alone, with the components that it names."""
    paths = {}
    for path, methods in schema["paths"].items():
        if own := {method: one for method, one in methods.items() if _part_of(one) == name}:
            paths[path] = own
    components: dict[str, dict[str, Any]] = {"securitySchemes": schema["components"]["securitySchemes"]}
    left = [*_named_in(paths)]
    while left:
        kind, component = left.pop()
        known = components.setdefault(kind, {})
        if component not in known:
            known[component] = schema["components"][kind][component]
            left += _named_in(known[component])
    tags = [tag for tag in schema["tags"] if tag["name"] == name]
    return schema | {"paths": paths, "components": components, "tags": tags}


def _named_in(value: object) -> Iterator[tuple[str, str]]:
    """The kind and the name of each component that it refers to."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref" and isinstance(inner, str):
                kind, name = inner.removeprefix("#/components/").split("/")
                yield kind, name
            else:
                yield from _named_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named_in(inner)
