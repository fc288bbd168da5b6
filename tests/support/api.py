"""A caller of the REST API: a token of a tenant, JSON in and out."""

import json
from dataclasses import dataclass

import django.contrib.auth.middleware  # noqa: F401  (now: a test with real commits sees only some of the apps)
from django.http import HttpResponse
from django.test import Client

from tasks_app.engine.operations.api_tokens import issue
from tests.support.operators import operator
from tests.support.schema import operation_for

ROOT = "/api/v1"


@dataclass
class Answer:
    status: int
    body: object
    headers: dict

    @property
    def code(self) -> str:
        return self.body["code"]


def refuse_undeclared(method: str, path: str, answer: Answer) -> None:
    """Whatever a test is about: no operation answers with a problem that the schema does not name for it."""
    operation = operation_for(method, path)
    if operation is not None and answer.status >= 400:
        assert answer.code in operation.codes, f"{operation.id} does not declare {answer.code}: {answer.body}"


class Api:
    def __init__(self, tenant: str = "default", *, can_write: bool = True, token: str | None = None) -> None:
        self.token = token or issue(f"of {tenant}", tenant, operator(), can_write=can_write)[1]
        self._client = Client(raise_request_exception=False)

    def call(self, method: str, path: str, body: object = None, *, text: str | None = None, **headers: str) -> Answer:
        answer = self.raw(method, path, body, text=text, **headers)
        content = answer.content.decode()
        told = Answer(answer.status_code, json.loads(content) if content else None, dict(answer.headers))
        refuse_undeclared(method, path, told)
        return told

    def raw(
        self, method: str, path: str, body: object = None, *, text: str | None = None, **headers: str
    ) -> HttpResponse:
        if text is None and body is not None:
            text = json.dumps(body)
        if self.token:
            headers = {"Authorization": f"Bearer {self.token}"} | headers
        return self._client.generic(
            method,
            path if path.startswith("/") and path.startswith(ROOT) else ROOT + path,
            text or "",
            content_type="application/json",
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    def get(self, path: str, **headers: str) -> Answer:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: object = None, **headers: str) -> Answer:
        return self.call("POST", path, {} if body is None else body, **headers)

    def patch(self, path: str, body: object, **headers: str) -> Answer:
        return self.call("PATCH", path, body, **headers)

    def put(self, path: str, body: object, **headers: str) -> Answer:
        return self.call("PUT", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Answer:
        return self.call("DELETE", path, **headers)


JOB = {"name": "report", "task_type": "T_QUIET", "cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin"}
