"""The REST API, /api/v1: entry points only; every decision is in lifecycle and engine."""

from functools import lru_cache
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.urls import re_path
from ninja import NinjaAPI
from ninja.errors import AuthenticationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from tasks_app.core.routers import ROUTERS
from tasks_app.database import own_transactions
from tasks_app.hooks import import_of_every_app
from tasks_app.libraries.django import change_views
from tasks_app.pages.extras import missing_for_api_page
from tasks_app.pages.links import API

from . import (
    alarms,
    attempts,
    audit,
    backfills,
    bulk,
    calendars,
    campaigns,
    dead_letters,
    decrypt,
    forecast,
    health,
    hosts,
    installation,
    jobs,
    lanes,
    limits,
    logs,
    members,
    recoveries,
    reports,
    runs,
    safeguards,
    secrets,
    service_levels,
    sites,
    subscriptions,
    task_types,
    tasks,
    tenants,
    type_limits,
    version,
    workers,
)
from .auth import Session, Token, for_readers
from .door import admitted
from .edges import StrictParser, nothing_here, refuse_unknown_parameters, spoken
from .openapi import complete, operations_of, views_by_address
from .page import Page
from .problems import handle_all


class PunctualAPI(NinjaAPI):
    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """Paths begin where the API begins; `servers` says where that is. So a client fits wherever it was mounted.
        Kept: it takes most of a second."""
        return self._schema_at(self.get_root_path(path_params or {}))

    @lru_cache(maxsize=8)  # noqa: B019  (there is one API)
    def _schema_at(self, root: str) -> OpenAPISchema:
        return complete(super().get_openapi_schema(path_prefix="", path_params={}), self, root)

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    @property
    def urls(self) -> tuple[list[Any], str, str]:
        for operation in operations_of(self):
            refuse_unknown_parameters(operation)
        (*own, root), app, namespace = super().urls
        views = views_by_address(self)
        change_views(own, lambda view, name: spoken(admitted(view, views.get(name, {}))))
        found = [*own, re_path("", nothing_here, name=root.name)]
        # It asks for a token or a login itself, whatever a project's pages do.
        change_views(found, lambda view, _: login_not_required(view))
        return own_transactions(found), app, namespace


api = PunctualAPI(
    title="Punctual",
    version="1",
    description="Jobs, tasks and the state of the scheduler. The page api.md explains keys, revisions and errors.",
    urls_namespace=API,
    auth=[Token(), Session()],
    throttle=[limits.Calls()],
    parser=StrictParser(),
    docs=Page(),
    docs_url="/docs" if missing_for_api_page() is None else None,
    docs_decorator=for_readers,
)
handle_all(api)
api.add_exception_handler(AuthenticationError, limits.unauthenticated)
OWN = (
    ("/jobs", forecast.drafts),  # before an id, which its address could be
    ("/jobs", jobs.router),
    ("/jobs", backfills.of_job),
    ("/backfills", backfills.router),
    ("/tasks", bulk.router),  # before an id, which its address could be
    ("/tasks", reports.router),
    ("/tasks", tasks.router),
    ("/tasks", attempts.router),
    ("/runs", runs.router),
    ("/tasks", logs.router),
    ("/tasks", decrypt.router),
    ("/calendars", calendars.router),
    ("/campaigns", campaigns.router),
    ("/task-types", task_types.router),
    ("/lanes", lanes.router),
    ("/workers", workers.router),
    ("/limits", type_limits.router),
    ("/hosts", hosts.router),
    ("/safeguards", safeguards.router),
    ("/installation", installation.router),
    ("/sites", sites.router),
    ("/recoveries", recoveries.router),
    ("/secrets", secrets.router),
    ("/subscriptions", subscriptions.router),
    ("/alarms", alarms.router),
    ("/dead-letters", dead_letters.router),
    ("/tenants", tenants.router),
    ("/members", members.people),
    ("/tokens", members.tokens),
    ("/audit", audit.router),
    ("", health.router),
    ("", service_levels.router),
    ("", forecast.router),
    ("", version.router),
)
import_of_every_app("punctual_api")  # endpoints of other apps
for prefix, router in (*OWN, *ROUTERS.beside({*(prefix for prefix, _ in OWN), "/live", "/scheduler", "/version"})):
    api.add_router(prefix, router)
