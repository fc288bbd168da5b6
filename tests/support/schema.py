"""The schema of the API as tests look at it: its operations, and which of them a request is for.

It is read from the file, since to make it takes a second in each process; tests/api/test_openapi.py compares the two.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from uuid import UUID

FILE = Path(__file__).resolve().parent.parent.parent / "docs" / "openapi.json"
SCHEMA = json.loads(FILE.read_text())
ROOT = SCHEMA["servers"][0]["url"]
NO_TOKEN = UUID(int=0)


class Operation(NamedTuple):
    id: str
    method: str
    path: str
    details: dict

    @property
    def codes(self) -> set[str]:
        """The problems that it may answer with."""
        return {code for one in self.details["responses"].values() for code in one.get("x-problem-codes", ())}

    @property
    def writes(self) -> bool:
        return self.method != "GET"

    def url(self, **ids: object) -> str:
        """Of these ids. What is reported about a run names the task and the run beside its token."""
        if "{token}" in self.path:
            ids = {"token": NO_TOKEN, "run": NO_TOKEN} | ids
        found = re.sub(r"\{(\w+)\}", lambda found: quote(str(ids.get(found[1], 1))), self.path)
        return f"{found}?task={ids.get('task_id', 1)}&run={ids['run']}" if "{token}" in self.path else found

    def component(self, content: dict) -> str | None:
        """The name of what is in a body or an answer."""
        schema = content.get("content", {}).get("application/json", {}).get("schema", {})
        return schema["$ref"].rpartition("/")[2] if "$ref" in schema else None

    def takes(self, header: str) -> bool:
        return any(one["name"] == header for one in self.details["parameters"])


OPERATIONS = [
    Operation(details["operationId"], method.upper(), path, details)
    for path, methods in SCHEMA["paths"].items()
    for method, details in methods.items()
]
PROTECTED = [one for one in OPERATIONS if "security" in one.details]


def named(one: object) -> str:
    """For the ids of parametrized tests."""
    return one.id if isinstance(one, Operation) else str(one)


# What is spelt out goes before what has an id in its place: /tasks/reschedule is no task.
_PATTERNS = [
    (re.compile(re.sub(r"\{\w+\}", "[^/]+", one.path)), one)
    for one in sorted(OPERATIONS, key=lambda one: "{" in one.path)
]


def operation_for(method: str, url: str) -> Operation | None:
    path, wanted = url.partition("?")[0].removeprefix(ROOT), "GET" if method == "HEAD" else method
    return next((one for pattern, one in _PATTERNS if one.method == wanted and pattern.fullmatch(path)), None)


def examples_of(component: str | None) -> list:
    return SCHEMA["components"]["schemas"].get(component, {}).get("examples", [])


def of_type(example: object, task_type: str) -> object:
    """The same with a task type that there is."""
    if isinstance(example, list):
        return [of_type(one, task_type) for one in example]
    if not isinstance(example, dict):
        return example
    named = {"task_type": task_type, "types": [task_type]}
    return {
        name: named[name] if value and name in named else of_type(value, task_type) for name, value in example.items()
    }
