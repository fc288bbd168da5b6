"""The REST API, /api/v1: entry points only; every decision is in lifecycle and engine."""

import json

from django.shortcuts import render
from django.urls import re_path
from ninja import NinjaAPI
from ninja.errors import AuthenticationError
from ninja.openapi.docs import Swagger

from . import health, jobs, limits, tasks
from .auth import Session, Token, for_readers
from .edges import StrictParser, nothing_here, refuse_unknown_parameters, spoken
from .problems import CODES, MEDIA_TYPE, ProblemOut, handle_all


class Page(Swagger):
    def render_page(self, request, api, **options):
        """With the scripts of api_page.py; its parent would take them from elsewhere."""
        self.settings["url"] = self.get_openapi_url(api, options)
        context = {"swagger_settings": json.dumps(self.settings), "api": api, "add_csrf": True}
        return render(request, self.template, context)


class PunctualAPI(NinjaAPI):
    def get_openapi_schema(self, **options):
        """Every operation may answer with a problem; the schema says so in one place instead of in each view."""
        schema = super().get_openapi_schema(**options)
        schema.setdefault("components", {}).setdefault("schemas", {})["Problem"] = ProblemOut.model_json_schema()
        problem = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
        for operations in schema["paths"].values():
            for operation in operations.values():
                for status in sorted({code.split("_")[1] for code in CODES}):
                    codes = [code for code in CODES if code.split("_")[1] == status]
                    operation["responses"][int(status)] = {"description": " or ".join(codes)} | problem
        return schema

    def _get_urls(self) -> list:
        for router in self._get_bound_routers():
            for view in router.path_operations.values():
                for operation in view.operations:
                    refuse_unknown_parameters(operation)
        *own, root = super()._get_urls()
        for one in own:
            one.callback = spoken(one.callback)
        return [*own, re_path("", nothing_here, name=root.name)]


api = PunctualAPI(
    title="Punctual",
    version="1",
    description="Jobs, tasks and the state of the scheduler. docs/api.md explains keys, revisions and errors.",
    urls_namespace="api",
    auth=[Token(), Session()],
    throttle=[limits.Calls()],
    parser=StrictParser(),
    docs=Page(),
    docs_decorator=for_readers,
)
handle_all(api)
api.add_exception_handler(AuthenticationError, limits.unauthenticated)
api.add_router("/jobs", jobs.router)
api.add_router("/tasks", tasks.router)
api.add_router("", health.router)
