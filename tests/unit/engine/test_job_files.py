"""Files of jobs: what they may say, and what is wrong with them, each with its place."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks_app.core.text import control_in
from tasks_app.engine.operations.declared_jobs import document, yaml_file
from tasks_app.engine.operations.declared_jobs.document import BadFile, JobFile, file_of
from tasks_app.engine.operations.declared_jobs.reading import read
from tasks_app.lifecycle.jobs.declared import Declaration
from tasks_app.lifecycle.jobs.request import JobRequest

JOB = "jobs:\n  - name: a\n    task_type: T_QUIET\n    "


def parsed(text: str, source: str | None = None) -> JobFile:
    return file_of(yaml_file.parse(text, "jobs.yaml"), "jobs.yaml", source)


def problems(text: str) -> list[str]:
    with pytest.raises(BadFile) as refused:
        parsed(text)
    return refused.value.problems


def test_a_file_is_read_with_its_defaults_tenants_and_lengths_of_time():
    file = parsed("""
source: shop/jobs.yaml
tenant: acme
defaults: {timezone: Europe/Berlin, every: 5m, lane: low}
jobs:
  - {name: a, task_type: T_QUIET, payload: {n: 1, when: 2027-03-01, no: no, t: 1:30}}
  - {name: b, task_type: T_QUIET, cron: "*/5 * * * *", backoff: [1s, 2.5, 1h30m], timeout: 90s, lane: null}
  - {name: c, task_type: T_QUIET, at: 2027-03-01T09:00:00+01:00, tenant: other, renamed_from: d}
""")

    assert (file.source, file.named) == ("shop/jobs.yaml", True)
    a, b, c = [one.declaration.request for one in file.jobs]
    assert a == JobRequest(
        name="a",
        task_type="T_QUIET",
        payload={"n": 1, "when": "2027-03-01", "no": "no", "t": "1:30"},
        every=300,
        timezone="Europe/Berlin",
        lane="low",
    )
    assert (b.cron, b.every, b.backoff, b.timeout, b.lane) == ("*/5 * * * *", 0, [1, 2.5, 5400], 90, "")
    assert (c.at, c.every) == (datetime(2027, 3, 1, 8, tzinfo=UTC), 0)
    assert [one.tenant for one in file.jobs] == ["acme", "acme", "other"]
    assert [one.declaration.renamed_from for one in file.jobs] == ["", "", "d"]
    assert [one.line for one in file.jobs] == [6, 7, 8]


def test_a_file_without_a_source_goes_by_its_name():
    assert parsed("jobs: []") == JobFile("jobs.yaml", "jobs.yaml", False, [])
    assert parsed("jobs: []", "mine") == JobFile("jobs.yaml", "mine", True, [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "jobs.yaml: the file is empty"),
        ("# nothing\n---\n", "jobs.yaml:3: the file is empty"),
        ("- a\n", "jobs.yaml:1: the file is a list"),
        ("source: x\n", "jobs.yaml: the file has no `jobs:`"),
        ("jobs: all\n", "jobs.yaml:1: the file has the text 'all' as its jobs"),
        ("jobs: []\njob: 1\n", "jobs.yaml:2: a file has no 'job'; it has source, tenant, defaults, jobs."),
        ("jobs:\n\t- name: a\n", "YAML is indented with spaces; replace the tab"),
        (f"{JOB}cron: */5 * * * *\n", "jobs.yaml:4: "),
        (f"{JOB}cron: * * * * *\n", "A text that begins with * needs quotes"),
        (f"{JOB}payload: &x {{}}\n", "jobs.yaml:4: anchors and aliases"),
        ("a: &a [x]\nb: *a\njobs: []\n", "jobs.yaml:1: anchors and aliases"),
        (f"{JOB}<<: {{}}\n", "jobs.yaml:4: `<<` is not read"),
        (f"{JOB}payload: !!python/object/apply:os.system [ls]\n", "jobs.yaml:4: the tag 'tag:yaml.org,2002:python"),
        (f"{JOB}payload: !x 1\n", "the tag '!x' is not read"),
        (f"{JOB}every: 60\n    every: 61\n", "jobs.yaml:5: 'every' is there twice, first in line 4"),
        (f"{JOB}payload: {{1: a}}\n", "jobs.yaml:4: '1' is no name of a field; put it in quotes"),
        (f"{JOB}payload: {{[1]: a}}\n", "jobs.yaml:4: a list or an object is no name of a field"),
        (f"{JOB}payload: {'[' * 200}\n", "more than 100 lists and objects in one another"),
        (f"{JOB}payload: {'9' * 5000}\n", "can't be read as a number"),
        (f"{JOB}payload: 1e999\n", "can't be read as a number"),
        ("jobs: []\n---\njobs: []\n", "A file is one document"),
        ("jobs: [a\n", "jobs.yaml:2: "),
        ("jobs: []\n\x00", "jobs.yaml: "),
    ],
)
def test_what_is_no_file_of_jobs_is_refused_with_its_place(text, told):
    [problem] = problems(text)

    assert told in problem
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("crom: x", "jobs.yaml:4: job 'a': a job has no field 'crom'. Did you mean 'cron'?"),
        ("delay: 5", "jobs.yaml:4: job 'a': a file can't have 'delay': every apply would mean another time. Use at."),
        ("paused: true", "a file can't have 'paused': whether a job is paused is for people to say"),
        ("cron: 5", "jobs.yaml:4: job 'a': cron: it is the number 5, but must be a text. Put it in quotes."),
        ("every: 1 day", "jobs.yaml:4: job 'a': every: '1 day' is not a length of time. Write it like 90s, 5m"),
        ("every: 0.5s", "every: it is the number 0.5, but must be a whole number"),
        ("every: true", "every: it is true, but must be a whole number"),
        ("max_runs: 5m", "max_runs: it is the text '5m', but must be a whole number"),
        ("backoff: 5s", "backoff: it is the text '5s', but must be a list"),
        ("backoff: [1s, soon]", "backoff: 'soon' is not a length of time"),
        ("timeout: [1]", "timeout: it is a list, but must be a number"),
        ("at: tomorrow", "at: it is the text 'tomorrow', but must be a time like 2027-03-01T09:00:00+01:00"),
        ("at: 20270301", "at: it is the number 20270301, but must be a time"),
        ("at: 2027-03-01T09:00:00", "at: '2027-03-01T09:00:00' has no offset from UTC"),
        ("tenant: 7", "tenant: it is the number 7, but must be a text"),
        ("tenant: ''", "jobs.yaml:2: job 'a': tenant"),
        ("renamed_from: a", "renamed_from is 'a', but the file still has a job of this name"),
    ],
)
def test_a_bad_field_is_told_with_its_line_and_its_job(field, told):
    [problem] = problems(JOB + field)

    assert told in problem
    assert problem.startswith("jobs.yaml:")


def test_all_that_is_wrong_is_told_at_once():
    assert problems("""
defaults: {name: x, every: soon}
jobs:
  - a
  - {task_type: T_QUIET}
  - {name: 7, task_type: T_QUIET}
  - {name: a, task_type: T_QUIET}
  - {name: a, task_type: T_QUIET}
  - {name: b, task_type: T_QUIET, renamed_from: z}
  - {name: c, task_type: T_QUIET, renamed_from: z}
""") == [
        "jobs.yaml:2: defaults: a job has no field 'name'.",
        "jobs.yaml:2: defaults: every: 'soon' is not a length of time. Write it like 90s, 5m, 1h30m or 7d (units w, d, "
        "h, m, s, the largest first), or as a number of seconds.",
        "jobs.yaml:4: job 1 is the text 'a'; it must have fields.",
        "jobs.yaml:5: job 2: name is missing.",
        "jobs.yaml:6: job 3: name: it is the number 7, but must be a text. Put it in quotes.",
        "jobs.yaml:8: job 'a': it is declared twice, first in line 7. Remove one of them.",
        "jobs.yaml:10: job 'c': renamed_from is 'z', and so is that of job 'b'.",
    ]


def test_a_file_has_a_bounded_number_of_jobs(monkeypatch):
    monkeypatch.setattr(document, "MOST_JOBS", 1)

    [problem] = problems("jobs: [{name: a, task_type: A}, {name: b, task_type: A}]")
    assert "2 jobs are too many; a file has at most 1" in problem


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("jobs.json", b"{}", "the name ends in '.json'; a job file is .yaml, .yml or .py"),
        ("jobs.yaml", b"jobs: []\n# \xff\n", "jobs.yaml:2: it is not UTF-8"),
        ("jobs.yaml", b"# " + b"x" * 2**22, "a job file has at most 4,194,304"),
        ("jobs.py", b"", "the file has no function jobs()"),
        ("jobs.py", b"def jobs(:\n", "jobs.py:1: SyntaxError: "),
        ("jobs.py", b"def jobs():\n    yield 1 / 0\n", "jobs.py:2: ZeroDivisionError: "),
        ("jobs.py", b"import nothing_like_it\n", "jobs.py:1: ModuleNotFoundError: "),
        ("jobs.py", b"raise SystemExit('no')\n", "jobs.py:1: SystemExit: no"),
        ("jobs.py", b"def jobs():\n    return None\n", "jobs.py: TypeError"),
        (
            "jobs.py",
            b"def jobs():\n    yield {'name': 'a'}\n",
            "job 1 is {'name': 'a'}; jobs() must yield a JobRequest",
        ),
    ],
)
def test_a_file_that_can_not_be_read_says_why(tmp_path, name, content, told):
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(BadFile) as refused:
        read(str(path))
    [problem] = refused.value.problems
    assert told in problem


def test_a_file_that_is_not_there_says_so(tmp_path):
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(BadFile, match=r"it can't be read|the name ends in"):
            read(str(path))


def test_a_python_file_yields_its_jobs(tmp_path):
    path = tmp_path / "jobs.py"
    path.write_text("""
from django_punctual.jobs import Declaration, JobRequest
SOURCE, TENANT = "shop", "acme"
def jobs():
    assert __name__ == "punctual_jobs"
    yield JobRequest(name="a", task_type="T_QUIET", every=60)
    yield Declaration(JobRequest(name="b", task_type="T_QUIET", every=60), tenant="other", renamed_from="c")
""")
    file = read(str(path))

    assert (file.source, file.named, [one.tenant for one in file.jobs]) == ("shop", True, ["acme", "other"])
    assert file.jobs[1].declaration == Declaration(
        JobRequest(name="b", task_type="T_QUIET", every=60), tenant="other", renamed_from="c"
    )


def test_a_python_file_with_values_of_wrong_types_is_refused(tmp_path):
    path = tmp_path / "jobs.py"
    path.write_text("""
from django_punctual.jobs import JobRequest
def jobs():
    yield JobRequest(name="a", task_type="T_QUIET", every="soon")
    yield JobRequest(name="a", task_type="T_QUIET", cron=5)
""")
    with pytest.raises(BadFile) as refused:
        read(str(path))

    assert [problem.partition("jobs.py: ")[2][:40] for problem in refused.value.problems] == [
        "job 1, 'a': 'soon' is not a length of ti",
        "job 2, 'a': it is the number 5, but must",
    ]


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
payloads = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(payloads)
@example({"<<": "*/5 * * * *", "no": "no", "1": "1e5", "~": "", "a: b": "\u202e\x85\x1b"})
def test_whatever_is_written_is_read_back_as_it_was(payload):
    text = yaml_file.write({"jobs": [{"payload": payload}]})

    assert yaml_file.parse(text, "x").plain == {"jobs": [{"payload": payload}]}
    assert control_in(text, lines=True) is None
