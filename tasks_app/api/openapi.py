"""What the schema says beyond what django-ninja reads from the views.

That is: the problems and headers of each operation, examples, and parameters without what only Python needs. The errors
of an operation follow from what it takes (a body, an id, a key …), and from what its view says it may answer.
"""

import re
from collections.abc import Iterator
from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.operation import Operation

from tasks_app.core.routers import ROUTERS
from tasks_app.libraries.ninja import views_of

from .door import NEVER_SHED
from .examples import EXAMPLES
from .headers import CHALLENGE, ETAG, HEADERS, RATE, REPLAYED, RETRY_AFTER
from .problem_examples import PROBLEMS
from .problems import CODES, MEDIA_TYPE, ProblemOut

TAGS = [
    {"name": "jobs", "description": "Rules that fire tasks on a schedule"},
    {"name": "tasks", "description": "Work to be done once, or again after an interval"},
    {
        "name": "runs",
        "description": "Graphs of jobs, fire time by fire time: what became of them, and again from what failed",
    },
    {"name": "calendars", "description": "Sets of days off that jobs keep"},
    {"name": "task types", "description": "What can be scheduled here"},
    {"name": "lanes", "description": "Priority classes: what is in each, pause and resume"},
    {
        "name": "limits",
        "description": "How many tasks of a type may start in a second, and run at the same time; set in code, where "
        "the handler is declared",
    },
    {"name": "campaigns", "description": "One order for many tasks, carried out step by step"},
    {"name": "hosts", "description": "Where callbacks go to: limits, and hosts that are unwell"},
    {"name": "secrets", "description": "What callbacks send in headers, or sign with; never read"},
    {"name": "subscriptions", "description": "Who is told of which events, and how that goes"},
    {"name": "alarms", "description": "Who is told when something goes wrong, and what has gone wrong"},
    {"name": "safeguards", "description": "Rules that hold work back by themselves, and what they did"},
    {"name": "installation", "description": "Quarantine, and what becomes of what is overdue after a downtime"},
    {"name": "workers", "description": "The workers that are alive; drain one, and let it take batches again"},
    {"name": "sites", "description": "Which of several sites works; let another one take over"},
    {"name": "recoveries", "description": "What was done after incidents, step by step"},
    {"name": "dead letters", "description": "What gave up, by cause; run it again, or give it up"},
    {"name": "tenants", "description": "Who shares the installation: quotas, suspend, resume and archive"},
    {"name": "members", "description": "Who may do what in a tenant: people and tokens"},
    {"name": "audit", "description": "Who did what, and why"},
    {"name": "scheduler", "description": "How the scheduler itself is doing"},
]
NULL = {"type": "null"}
MAKE_WHAT_IS_MISSING = {"suspend_tenant"}  # a tenant needs no row before
_REVISED = (
    "CalendarOut",
    "JobOut",
    "JobSavedOut",
    "AlarmRuleOut",
    "AlarmChannelOut",
    "NewAlarmChannelOut",
)  # what has a revision, which is sent as its ETag
_STORED = ("404", "412", "422")  # problems that are given again to the same Idempotency-Key


def complete(schema: OpenAPISchema, api: NinjaAPI, root: str) -> OpenAPISchema:
    """The schema with all that; its paths begin at `root`, wherever somebody has put the API."""
    schema["servers"] = [{"url": root.rstrip("/")}]
    schema["tags"] = TAGS + [{"name": tag, "description": says} for tag, says in ROUTERS.says.items()]
    components = schema["components"]
    problem = ProblemOut.model_json_schema(ref_template=REF_TEMPLATE)
    components["schemas"] |= problem.pop("$defs") | {"Problem": problem | {"title": "Problem"}}
    own = {one.view_func.__name__: getattr(one.view_func, "problems", ()) for one in operations_of(api)}
    for path in schema["paths"].values():
        for method, operation in path.items():
            _simplify(operation)
            _name_lists(operation, components["schemas"])
            codes = _codes(method, operation) | set(own[operation["operationId"]])
            _answers(operation, [code for code in CODES if code in codes])
    components["schemas"] = {name: _component(name, one) for name, one in sorted(components["schemas"].items())}
    components["headers"] = HEADERS
    components["examples"] = {code: {"value": PROBLEMS[code]} for code in CODES}
    return schema


def operations_of(api: NinjaAPI) -> Iterator[Operation]:
    for operations in views_of(api):
        yield from operations


def views_by_address(api: NinjaAPI) -> dict[str, dict[str, str]]:
    """By the name of an address, its views by method. Django finds the name of the first of them for all."""
    found: dict[str, dict[str, str]] = {}
    for operations in views_of(api):
        names = {method: one.view_func.__name__ for one in operations for method in one.methods}
        for one in operations:
            found[getattr(one, "url_name", "") or one.view_func.__name__] = names
    return found


def _simplify(operation: dict[str, Any]) -> None:
    """A parameter or a body that may be left out is not null: there is no way to write that in a query or a header."""
    for parameter in operation["parameters"]:
        parameter["schema"] = _without_null(parameter["schema"])
        parameter["schema"].pop("description", None)
    for content in operation.get("requestBody", {}).get("content", {}).values():
        content["schema"] = _without_null(content["schema"])


def _name_lists(operation: dict[str, Any], components: dict[str, Any]) -> None:
    """A word in a path has a list of its own type as well; django-ninja writes it out there."""
    lists = {tuple(one["enum"]): name for name, one in components.items() if "enum" in one}
    for parameter in operation["parameters"]:
        name = lists.get(tuple(parameter["schema"].get("enum", ())))
        if name is not None:
            parameter["schema"] = {"$ref": REF_TEMPLATE.format(model=name)}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in schema.items() if name != "title"}
    kinds = [one for one in given.get("anyOf", []) if one != NULL]
    if len(kinds) != 1:
        return given
    kind: dict[str, Any] = kinds[0]
    return kind | {name: value for name, value in given.items() if name not in ("anyOf", "default")}


def _codes(method: str, operation: dict[str, Any]) -> set[str]:
    """The problems that come with what an operation takes."""
    found = {"SCH_422_INVALID", "SCH_500_INTERNAL"}
    if "security" in operation:
        found |= {"SCH_401_UNAUTHENTICATED", "SCH_429_TOO_MANY", "SCH_429_QUOTA", "SCH_503_DATABASE_DOWN"}
    if operation["operationId"] not in NEVER_SHED:
        found.add("SCH_503_OVERLOADED")
    if method != "get":
        found |= {"SCH_403_FORBIDDEN", "SCH_413_TOO_LARGE"}
    if "requestBody" in operation:
        found.add("SCH_400_MALFORMED")
    needed = {one["name"]: one["required"] for one in operation["parameters"]}
    if method != "get" and "signature" not in needed:  # what runs may be reported about
        found.add("SCH_403_TENANT_SUSPENDED")
    # One that has a list is refused if it is not in it; and what is put somewhere need not have been there.
    makes = method == "put" or operation["operationId"] in MAKE_WHAT_IS_MISSING
    if not makes and any(one["in"] == "path" and "$ref" not in one["schema"] for one in operation["parameters"]):
        found.add("SCH_404_NOT_FOUND")
    if "Idempotency-Key" in needed:
        found |= {"SCH_409_IN_PROGRESS", "SCH_422_KEY_REUSED"}
    if needed.get("Idempotency-Key"):
        found.add("SCH_400_IDEMPOTENCY_KEY_MISSING")
    if "If-Match" in needed:
        found.add("SCH_412_STALE")
    if needed.get("If-Match"):
        found.add("SCH_428_IF_MATCH_MISSING")
    return found


def _answers(operation: dict[str, Any], codes: list[str]) -> None:
    """Every answer of an operation, by its status: what it is, and its headers."""
    known = RATE if "security" in operation else ()
    stored = (REPLAYED,) if any(one["name"] == "Idempotency-Key" for one in operation["parameters"]) else ()
    answers = {}
    for status, answer in operation["responses"].items():
        revised = (ETAG,) if _schema_of(answer).get("$ref", "").rpartition("/")[2] in _REVISED else ()
        answers[str(status)] = answer | _headers(*revised, *stored, *known)
    for status in dict.fromkeys(code.split("_")[1] for code in codes):
        these = [code for code in codes if code.split("_")[1] == status]
        told = {
            "401": (CHALLENGE,),
            "409": (RETRY_AFTER, *stored),
            "429": (RETRY_AFTER, *known),
            "503": (RETRY_AFTER,),
        } | dict.fromkeys(_STORED, stored)
        answers[status] = {
            "description": "; ".join(f"`{code}`: {CODES[code]}" for code in these),
            **_headers(*told.get(status, ())),
            "content": {
                MEDIA_TYPE: {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in these},
                }
            },
            "x-problem-codes": these,
        }
    operation["responses"] = answers


def _schema_of(answer: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(iter(answer.get("content", {}).values()), {})
    schema: dict[str, Any] = found.get("schema", {})
    return schema


def _headers(*names: str) -> dict[str, Any]:
    return {"headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names}} if names else {}


def _component(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """With examples, and without a title for each field that only says its name again."""
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
        if "default" in field and field["default"] is None:
            del field["default"]
    if "description" in schema:
        schema["description"] = re.sub(r"\s+", " ", schema["description"])
    return schema | ({"examples": EXAMPLES[name]} if name in EXAMPLES else {})
