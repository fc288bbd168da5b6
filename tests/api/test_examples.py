"""The examples of the schema keep to it, and are what the API really takes and gives."""

from functools import cache

import jsonschema_rs

from tasks_app.api.problems import CODES
from tests.support.deeds import ELSEWHERE, STATES, last_entry, refuse_untold
from tests.support.ready import ready, rolled_back
from tests.support.schema import OPERATIONS, SCHEMA, Operation, examples_of, of_type

COMPONENTS = SCHEMA["components"]["schemas"]
OPEN = (
    "payload",
    "payload_schema",
    "last_error",
    "detail",
    "counts",
    "days_off",
    "working_days",
)  # whose names are not the API's
BODIES = [one for one in OPERATIONS if "requestBody" in one.details]


def body_of(one: Operation) -> str:
    return one.component(one.details["requestBody"])


def answer_of(one: Operation) -> tuple[int, str | None]:
    [(status, answer)] = [(int(key), value) for key, value in one.details["responses"].items() if key < "300"]
    return status, one.component(answer)


def refuse_invalid(component: str, value: object) -> None:
    _validator(component).validate(value)


@cache
def _validator(component: str) -> jsonschema_rs.Validator:
    whole = {"$ref": f"#/components/schemas/{component}", "components": SCHEMA["components"]}
    return jsonschema_rs.validator_for(whole, validate_formats=True)


def test_every_body_and_every_answer_has_examples_that_keep_to_the_schema():
    for one in OPERATIONS:
        _, answer = answer_of(one)
        for component in [*([answer] if answer else []), *([body_of(one)] if one in BODIES else [])]:
            assert examples_of(component), component
            for example in examples_of(component):
                refuse_invalid(component, example)


def test_every_problem_has_an_example_that_keeps_to_the_schema():
    assert SCHEMA["components"]["examples"].keys() == CODES.keys()
    for code, example in SCHEMA["components"]["examples"].items():
        refuse_invalid("Problem", example["value"])
        assert example["value"]["code"] == code


def test_every_example_of_a_body_is_taken(api, redis, settings, tmp_path):
    """And the answer has all the fields that its own example has; and what it changed is in the audit trail."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    for one in BODIES:
        redis.flushall()
        with rolled_back():
            for number, example in enumerate(examples_of(body_of(one))):
                asked = ready(api, one, number)
                url, body, before = one.url(**asked.ids), of_type(example, "T_QUIET"), last_entry()

                answer = asked.api.call(one.method, url, body, If_Match="1", Idempotency_Key=f"k{number}")

                status, component = answer_of(one)
                assert answer.status == status, (one.id, answer.body)
                refuse_invalid(component, answer.body)
                assert answer.body.keys() == examples_of(component)[0].keys(), one.id
                if one.id not in STATES:
                    refuse_untold(one, before, example)


OTHERS = [one for one in OPERATIONS if one.writes and (one not in BODIES or one.id in STATES)]


def test_what_no_example_shows_is_in_the_audit_trail_too(api, redis):
    for one in OTHERS:
        if one.id in ELSEWHERE:
            continue
        redis.flushall()
        with rolled_back():
            asked = ready(api, one)
            body = STATES[one.id](asked) if one.id in STATES else None
            before = last_entry()

            revision = "2" if one.id == "resume_job" else "1"
            answer = asked.api.call(one.method, one.url(**asked.ids), body, If_Match=revision, Idempotency_Key="k")

            assert answer.status < 300, (one.id, answer.body)
            refuse_untold(one, before)


def test_what_is_read_has_the_fields_of_its_example(api, redis):
    for one in OPERATIONS:
        if one.method != "GET":
            continue
        redis.flushall()
        with rolled_back():
            asked = ready(api, one)
            answer = asked.api.get(one.url(**asked.ids))

        _, component = answer_of(one)
        refuse_invalid(component, answer.body)
        assert shape(answer.body) == shape(examples_of(component)[0]), one.id


def shape(value: object) -> object:
    """The names in it, at every depth; of a list of objects, those of the first."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items() if name not in OPEN}
    return [shape(inner) for inner in value[:1] if isinstance(inner, dict)] if isinstance(value, list) else None
