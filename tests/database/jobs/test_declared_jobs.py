"""Jobs as code: what applying a file does, what it leaves alone, and what was changed by hand."""

import io
import json
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from django_punctual import Operator
from django_punctual.calendars import CalendarRequest, create_calendar
from tasks_app.engine.operations.declared_jobs.document import BadFile, file_of
from tasks_app.engine.operations.declared_jobs.export import file_of as written
from tasks_app.engine.operations.declared_jobs.plan import Wanted, plan
from tasks_app.engine.operations.declared_jobs.reading import read
from tasks_app.engine.operations.declared_jobs.yaml_file import parse, write
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.declared import document, drift
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.models import AuditEntry, DeclaredJob, JobDefinition, OutboxEvent
from tests.support.jobs import by, fire_times, instances, make
from tests.support.stack import ROOT

pytestmark = pytest.mark.django_db

FILE = """
jobs:
  - {name: report, task_type: T_QUIET, every: 1m}
  - {name: invoices, task_type: T_QUIET, cron: 0 6 1 * *, timezone: Europe/Berlin, payload: {month: last, n: 1}}
"""


@pytest.fixture
def apply(tmp_path):
    """Apply this text, or the file of before, and return the exit code and what was printed."""
    path = tmp_path / "jobs.yaml"

    def applied(text: str | None = None, *options: str) -> tuple[int, list[str]]:
        if text is not None:
            path.write_text(text)
        return run("apply", str(path), "--by", "deploy", *options)

    applied.path = str(path)
    return applied


def run(*args: str) -> tuple[int, list[str]]:
    out = io.StringIO()
    try:
        call_command("jobs", *args, stdout=out)
        code = 0
    except SystemExit as ended:
        code = ended.code
    except CommandError as error:
        code = error.returncode
        out.write(str(error))
    return code, out.getvalue().splitlines()


def job(name: str = "report") -> JobDefinition:
    return JobDefinition.objects.get(name=name)


def counts() -> tuple[int, int, int]:
    return AuditEntry.objects.count(), OutboxEvent.objects.count(), DeclaredJob.objects.count()


def by_hand(**changes) -> None:
    verbs.edit(job().id, changes, by())


def test_a_file_is_applied_in_one_operation_and_a_second_time_writes_nothing(apply):
    code, lines = apply(FILE, "--reason", "first")

    assert (code, lines) == (
        0,
        [
            "+ report: T_QUIET, every 60 s",
            "+ invoices: T_QUIET, 0 6 1 * *",
            "Applied jobs.yaml: 2 created.",
        ],
    )
    entries = AuditEntry.objects.filter(actor="deploy", verb="create", reason="first")
    assert entries.count() == 2 and len({entry.operation for entry in entries}) == 1
    assert job().created_by == "deploy" and fire_times(job())
    before, records = counts(), list(DeclaredJob.objects.order_by("id").values())

    assert apply() == (0, ["Nothing to do."])
    assert apply(None, "--prune", "--overwrite", "all", "--check") == (0, ["Nothing to do."])
    assert counts() == before and list(DeclaredJob.objects.order_by("id").values()) == records


def test_a_change_shows_each_field_and_a_dry_run_changes_nothing(apply):
    apply(FILE)
    text = FILE.replace("every: 1m", "cron: 0 * * * *").replace("n: 1", "n: true").replace("0 6 1", "0 7 1")
    told = [
        '~ report: cron: "" -> "0 * * * *"',
        "~ report: every: 60 -> 0",
        "~ invoices: payload.n: 1 -> true",
        '~ invoices: cron: "0 6 1 * *" -> "0 7 1 * *"',
    ]
    before = counts()

    assert apply(text, "--dry-run") == (0, [*told, "Dry run: 2 to change."])
    assert apply(text, "--dry-run", "--check")[0] == 1
    assert apply(text, "--check")[0] == 1
    assert counts() == before and job().every == 60
    assert apply(text) == (0, [*told, "Applied jobs.yaml: 2 changed."])
    assert (job().cron, job("invoices").payload) == ("0 * * * *", {"month": "last", "n": True})
    assert AuditEntry.objects.filter(verb="edit", reason="applied from jobs.yaml").count() == 2
    assert apply() == (0, ["Nothing to do."])


def test_a_field_that_is_taken_out_gets_its_default_again(apply):
    apply(FILE.replace("every: 1m", "every: 1m, lane: low, timeout: 5s, backoff: [1s, 2s, 3s]"))
    assert (job().lane, job().max_retry) == ("low", 3)

    assert apply(FILE)[0] == 0
    assert (job().lane, job().timeout, job().backoff, job().max_retry) == ("default", None, None, 5)


def test_only_what_the_file_declared_is_pruned_and_only_if_asked(apply):
    make("by hand")
    apply(FILE)
    planned = instances(job())
    text = "jobs: [{name: invoices, task_type: T_QUIET, every: 1h}]"

    code, lines = apply(text)
    assert (code, lines[-2:]) == (
        0,
        ["? report is no longer in the file; --prune deletes it", "Applied jobs.yaml: 1 changed."],
    )
    assert apply(None, "--prune", "--check")[0] == 1
    assert apply(None, "--prune") == (0, ["- report", "Applied jobs.yaml: 1 deleted."])
    assert set(JobDefinition.objects.values_list("name", flat=True)) == {"by hand", "invoices"}
    assert planned and not instances(planned[0].job)
    assert apply(None, "--prune") == (0, ["Nothing to do."])


def test_a_job_of_the_same_name_that_another_file_declares_for_another_tenant_is_not_pruned(apply, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text(f"tenant: acme\n{FILE}")
    apply(FILE)
    assert run("apply", str(other))[0] == 0

    assert apply(None, "--prune") == (0, ["Nothing to do."])
    assert JobDefinition.objects.filter(tenant="acme").count() == 2


def test_another_file_of_the_same_name_does_not_prune(apply):
    apply(FILE)
    for text in ("jobs: []", "jobs: [{name: other, task_type: T_QUIET, every: 1h}]"):
        code, lines = apply(text, "--prune")
        assert code == 2
        assert "--prune would delete 2 jobs declared in 'jobs.yaml', and none of them is in this file" in lines[0]
        assert JobDefinition.objects.count() == 2

    assert apply("jobs: []", "--prune", "--source", "jobs.yaml")[0] == 0
    assert JobDefinition.objects.count() == 0


def test_what_was_changed_by_hand_is_shown_and_refused_until_somebody_decides(apply):
    apply(FILE)
    by_hand(lane="high", payload={"a": 1})
    text = FILE.replace("0 6 1", "0 7 1")
    before = counts()

    code, lines = apply(text)

    assert code == 3
    assert lines == [
        "! report: changed by hand since it was applied",
        "!   payload.a is 1",
        '!   lane was applied as "default", is "high", and the file says "default"',
        '~ invoices: cron: "0 6 1 * *" -> "0 7 1 * *"',
        f"1 job would lose what was done by hand. Put it into {apply.path}, or undo it: --overwrite 'report' "
        "(or --overwrite all); --keep leaves it.",
        "Nothing was changed.",
    ]
    assert apply(text, "--dry-run")[0] == apply(text, "--check")[0] == 3
    assert counts() == before and (job().lane, job("invoices").cron) == ("high", "0 6 1 * *")

    code, lines = apply(text, "--keep", "report")
    assert (code, lines[0]) == (0, "! report: changed by hand since it was applied; it stays")
    assert lines[-1] == "Applied jobs.yaml: 1 changed. 1 job left as made by hand."
    assert (job().lane, job("invoices").cron) == ("high", "0 7 1 * *")

    assert apply(text)[0] == 3
    assert apply(text, "--overwrite", "report")[0] == 0
    assert (job().lane, job().payload) == ("default", {})
    assert apply(text) == (0, ["Nothing to do."])


def test_what_was_changed_by_hand_to_what_the_file_says_is_no_drift(apply):
    apply(FILE)
    by_hand(lane="high")
    text = FILE.replace("every: 1m", "every: 1m, lane: high")

    assert apply(text) == (
        0,
        ["= report is as the file says, and declared by it from now on", "Nothing to change."],
    )
    assert drift(DeclaredJob.objects.get(job=job().id), job()) == []
    assert apply() == (0, ["Nothing to do."])


def test_the_file_may_change_one_field_while_it_takes_over_another_that_was_changed_by_hand(apply):
    apply(FILE)
    by_hand(lane="high", payload={"n": 1})

    assert apply(FILE.replace("every: 1m", "every: 2m, lane: high, payload: {n: 1}"))[0] == 0
    assert (job().every, job().lane) == (120, "high")


def test_what_was_changed_and_changed_back_is_no_drift_nor_is_a_pause(apply):
    apply(FILE)
    by_hand(lane="high")
    by_hand(lane="default")
    verbs.pause(job().id, by())

    assert apply() == (0, ["Nothing to do."])
    assert apply(FILE.replace("every: 1m", "every: 2m"))[0] == 0
    assert (job().status, job().every) == ("PAUSED", 120)


def test_a_job_that_was_deleted_by_hand_is_drift(apply):
    apply(FILE)
    verbs.delete(job().id, by())

    code, lines = apply()
    assert (code, lines[0]) == (3, "! report: deleted by hand since it was applied")
    assert apply(None, "--keep", "report")[0] == 0 and JobDefinition.objects.count() == 1
    assert apply(None, "--overwrite", "all")[1][-1] == "Applied jobs.yaml: 1 created."
    assert apply() == (0, ["Nothing to do."])
    verbs.delete(job().id, by())
    assert apply("jobs: [{name: invoices, task_type: T_QUIET, every: 1h}]")[1][-2:] == [
        "= report is gone, and no longer in the file either",
        "Applied jobs.yaml: 1 changed.",
    ]
    assert DeclaredJob.objects.count() == 1


def test_a_job_that_was_renamed_by_hand_is_drift_and_gets_its_name_back(apply):
    apply(FILE)
    number = job().id
    by_hand(name="mine")

    code, lines = apply()
    assert (code, lines[1]) == (3, '!   name was applied as "report", is "mine", and the file says "report"')
    assert apply(None, "--overwrite", "report")[0] == 0
    assert job().id == number and JobDefinition.objects.count() == 2


def test_a_job_that_was_made_by_hand_is_adopted_if_it_is_the_same_and_drift_if_not(apply):
    make("report", every=60)
    make("invoices", every=60)

    code, lines = apply(FILE)
    assert code == 3
    assert lines[1] == "! invoices: there already, made by alice, and no file declares it"
    assert '!   cron is "", and the file says "0 6 1 * *"' in lines
    assert DeclaredJob.objects.count() == 0

    assert apply(FILE, "--overwrite", "invoices")[0] == 0
    assert AuditEntry.objects.filter(verb="declare", subject=f"job {job().id}").count() == 1
    assert job().revision == 1
    assert apply() == (0, ["Nothing to do."])


def test_what_is_to_be_pruned_and_was_changed_by_hand_is_refused(apply):
    apply(FILE)
    by_hand(lane="high")
    rest = "\n".join(line for line in FILE.splitlines() if "report" not in line)

    assert apply(rest, "--prune")[0] == 3
    assert apply(rest, "--prune", "--keep", "all")[0] == 0 and job()
    assert apply(rest, "--prune", "--overwrite", "report")[0] == 0
    assert JobDefinition.objects.count() == 1


def test_a_rename_keeps_the_job_and_its_history(apply):
    apply(FILE)
    number, planned = job().id, fire_times(job())
    text = FILE.replace("name: report,", "name: daily, renamed_from: report,")

    assert apply(text, "--prune") == (0, ['~ daily: name: "report" -> "daily"', "Applied jobs.yaml: 1 changed."])
    assert job("daily").id == number and fire_times(number) == planned
    assert apply(text, "--prune") == (0, ["Nothing to do."])
    assert apply(text.replace(" renamed_from: report,", ""), "--prune") == (0, ["Nothing to do."])
    assert list(DeclaredJob.objects.values_list("name", flat=True).order_by("name")) == ["daily", "invoices"]


def test_a_rename_to_a_name_that_is_there_is_refused(apply):
    apply(FILE)
    make("daily")
    text = FILE.replace("name: report,", "name: daily, renamed_from: report,")

    code, lines = apply(text)
    assert code == 2 and "there is a job of either name" in lines[0]
    assert "jobs.yaml:3: job 'daily': renamed_from is 'report'" in lines[0]


def test_a_rename_of_what_was_deleted_by_hand_is_drift_and_of_what_never_was_creates_it(apply):
    text = FILE.replace("name: report,", "name: daily, renamed_from: report,")
    assert apply(text)[1][0] == "+ daily: T_QUIET, every 60 s"
    JobDefinition.objects.all().delete(), DeclaredJob.objects.all().delete()
    apply(FILE)
    verbs.delete(job().id, by())

    assert apply(text)[0] == 3
    assert apply(text, "--overwrite", "daily")[0] == 0
    assert DeclaredJob.objects.count() == 2


def test_two_files_can_not_declare_one_job_until_it_is_released(apply, tmp_path):
    apply(FILE)
    other = tmp_path / "other.yaml"
    other.write_text(FILE)

    code, lines = run("apply", str(other))
    assert code == 2 and len(lines) == 3
    assert "job 'report': it is declared in 'jobs.yaml' as well" in lines[0]
    assert "jobs release 'jobs.yaml' 'report'" in lines[0]

    assert run("release", "jobs.yaml", "nothing", "--reason", "x")[0] == 2
    assert run("release", "jobs.yaml", "report", "--reason", "it moves") == (
        0,
        ["= report: no longer declared by jobs.yaml; it stays as it is"],
    )
    assert AuditEntry.objects.filter(verb="release", reason="it moves").count() == 1
    assert run("release", "jobs.yaml", "--reason", "it moves")[0] == 0
    assert run("apply", str(other))[0] == 0
    assert set(DeclaredJob.objects.values_list("source", flat=True)) == {"other.yaml"}
    assert apply()[0] == 2


def test_a_job_that_a_hand_gave_the_name_of_a_new_one_is_not_taken_for_it(apply):
    """Declared in one file, renamed by hand to what another file declares: neither may lose it."""
    apply(FILE)
    by_hand(name="fresh")

    code, lines = apply("source: two\njobs: [{name: fresh, task_type: T_QUIET, every: 1h}]")

    assert code == 3 and "already has a job named 'fresh'" in lines[-1]
    assert job("fresh").every == 60 and DeclaredJob.objects.count() == 2


def test_what_can_not_be_is_told_with_its_line_and_nothing_is_changed(apply):
    code, lines = apply("""
jobs:
  - {name: good, task_type: T_QUIET, every: 1m}
  - name: never
    task_type: T_QUIET
    cron: 0 0 30 2 *
  - {name: unknown, task_type: T_NOTHING, every: 1m}
  - {name: foreign, task_type: PUNCTUAL_CANARY, tenant: acme, every: 1m}
  - {name: both, task_type: T_QUIET, every: 1m, cron: 0 0 * * *}
""")

    assert code == 2 and lines[-1] == "Nothing was changed."
    places = [line.partition("jobs.yaml:")[2].split(":")[0] for line in lines[:-1]]
    assert places[:2] == ["6", "7"] and "job 'never': cron" in lines[0]
    assert JobDefinition.objects.count() == AuditEntry.objects.count() == 0


def test_names_that_nobody_has_are_refused(apply):
    code, lines = apply(FILE, "--overwrite", "reprot", "--keep", "report", "--overwrite", "report")

    assert code == 2
    assert lines[0] == f"--overwrite: there is no job 'reprot' in {apply.path}."
    assert lines[1] == "--overwrite and --keep both name 'report'; give the one you mean."


def test_the_same_as_json(apply):
    apply(FILE)
    by_hand(lane="high")
    code, lines = apply(FILE.replace("0 6 1", "0 7 1"), "--json", "--dry-run")
    told = json.loads("\n".join(lines))

    assert code == 3
    assert (told["source"], told["dry_run"], told["applied"], told["changes"], told["refused"]) == (
        *("jobs.yaml", True, False, 0, 1),
    )
    [report, invoices] = told["jobs"]
    assert report["drift"] == [{"field": "lane", "applied": "default", "now": "high", "file": "default"}]
    assert (report["action"], report["refused"], report["job"]) == ("change", True, job().id)
    assert invoices["changes"] == [{"field": "cron", "old": "0 6 1 * *", "new": "0 7 1 * *"}]


def test_what_is_exported_and_applied_is_nothing_to_do(apply):
    make("report", every=90, lane="low", backoff=[1, 2.5], timeout=90, jitter=30)
    make("once", at=datetime(2090, 1, 1, tzinfo=UTC), payload={"no": "no", "ünï": [1, None, "*/5"]})
    make("acme's", tenant="acme", cron="*/5 * * * *", timezone="Europe/Berlin", expires_after=60)

    code, lines = run("export")

    text = "\n".join(lines)
    assert code == 0 and "every: 1m30s" in text and "tenant: acme" in text
    assert "max_retry" not in text and "catch_up" not in text
    assert apply(text)[1][-1] == "Nothing to change."
    assert apply(text) == (0, ["Nothing to do."])
    assert run("export", "--undeclared")[1] == ["jobs: []"]
    assert run("export", "--source", "jobs.yaml")[1] == ["source: jobs.yaml", *lines]
    assert run("export", "--tenant", "acme")[1][0] == "tenant: acme"
    assert run("export", "--source", "x", "--undeclared")[0] == 2


OTHERS = {
    "payload": {"n": [1, {"a": None}]},
    "at": datetime(2090, 1, 1, 12, tzinfo=UTC),
    "backoff": [1.0, 2.5],
    "start_at": datetime(2080, 1, 1, tzinfo=UTC),
    "end_at": datetime(2089, 1, 1, tzinfo=UTC),
    "cron": "*/10 * * * *",
    "timezone": "Europe/Berlin",
    "dst_gap": "skip",
    "dst_repeat": "twice",
    "lane": "low",
    "catch_up": "all",
    "overlap": "queue_one",
    "every": 5400,
    "max_retry": 7,
    "timeout": 1.5,
    "expires_after": 86_400.0,
    "max_runs": 3,
    "jitter": 7,
    "catch_up_window": 3600,
    "catch_up_most": 5,
    "calendar": "holidays",
    "on_day_off": "shift",
    "parents": ["before it"],
    "when": "all_done",
    "if_parent_fails": "cancel",
}
ALONGSIDE = {"on_day_off": {"calendar": "holidays", "every": 3600}}  # what a field needs


def test_every_field_of_a_job_goes_into_a_file_and_back():
    """A new field needs a line in OTHERS, and nothing else."""
    create_calendar(CalendarRequest("holidays", weekdays=["Sunday"]), Operator("olga", "for the test"))
    make("before it", every=62)
    plain = document(make("plain", every=61))
    for name in (one.name for one in fields(JobRequest) if one.default is not MISSING):
        assert name in OTHERS, f"give {name} another value than its default in OTHERS"
        options = {"every": 60} if name not in ("cron", "every", "at", "parents") else {}
        made = make(f"with {name}", **options | ALONGSIDE.get(name, {}) | {name: OTHERS[name]})
        assert document(made)[name] != plain[name]

        text = write(written([made], None))
        file = file_of(parse(text, "jobs.yaml"), "jobs.yaml", None)

        [step] = plan(file, Wanted()).steps
        assert f"{name}:" in text
        assert (step.action, list(step.changes)) == ("adopt", []), name


GRAPH = """
defaults: {every: 1m, timezone: Europe/Berlin, overlap: skip}
jobs:
  - {name: load, task_type: T_QUIET, parents: [transform, check], when: all_done}
  - {name: transform, task_type: T_QUIET, parents: [extract]}
  - {name: check, task_type: T_QUIET, parents: [extract]}
  - {name: extract, task_type: T_QUIET}
"""


def parents(name: str) -> list[str]:
    return document(job(name))["parents"]


def test_a_graph_is_declared_in_any_order_and_changed(apply):
    assert apply(GRAPH, "--dry-run")[1][-1] == "Dry run: 4 to create."
    assert apply(GRAPH)[1][-1] == "Applied jobs.yaml: 4 created."
    assert parents("load") == ["check", "transform"]
    assert apply(GRAPH.replace("[transform, check]", "[check, transform]")) == (0, ["Nothing to do."])

    other = GRAPH.replace("parents: [extract]}\n  - {name: check", "parents: [check]}\n  - {name: check")
    assert apply(other)[1][0] == '~ transform: parents: ["extract"] -> ["check"]'
    assert apply(GRAPH.replace("when: all_done", "if_parent_fails: cancel"))[0] == 0
    assert (job("load").when, job("load").if_parent_fails) == ("all_success", "cancel")
    assert run("export", "--source", "jobs.yaml")[1].count("    parents:") == 3


def test_a_whole_graph_goes_to_another_root_at_once(apply):
    """One by one, the two in the middle would make the last come after two roots."""
    apply(GRAPH)
    fresh = GRAPH.replace("[extract]", "[read]").replace("name: extract,", "name: read,")

    assert apply(fresh, "--prune")[1][-1] == "Applied jobs.yaml: 1 created, 2 changed, 1 deleted."
    assert (parents("check"), parents("transform"), parents("load")) == (["read"], ["read"], ["check", "transform"])
    assert apply(fresh, "--prune") == (0, ["Nothing to do."])


def test_a_chain_is_turned_round(apply):
    chain = "jobs:\n" + "".join(
        f"  - {{name: {name}, task_type: T_QUIET, {when}}}\n"
        for name, when in (("a", "every: 1m"), ("b", "parents: [a]"), ("c", "parents: [b]"))
    )
    assert apply(chain)[1][:3] == ["+ a: T_QUIET, every 60 s", "+ b: T_QUIET, after 'a'", "+ c: T_QUIET, after 'b'"]
    turned = chain.replace("name: a,", "name: x,").replace("name: c,", "name: a,").replace("name: x,", "name: c,")
    turned = turned.replace("[a]", "[c]")

    assert apply(turned)[1][-1] == "Applied jobs.yaml: 3 changed."
    assert (parents("a"), parents("b"), parents("c"), job("c").every) == (["b"], ["c"], [], 60)


def test_a_parent_is_renamed_and_pruned_with_its_children(apply):
    apply(GRAPH)
    renamed = GRAPH.replace("[extract]", "[read]").replace("name: extract,", "name: read, renamed_from: extract,")
    number = job("extract").id

    assert apply(renamed)[0] == 0
    assert job("read").id == number and parents("check") == ["read"]
    assert apply(renamed) == (0, ["Nothing to do."])
    assert apply("source: jobs.yaml\njobs: []", "--prune")[1][-1] == "Applied jobs.yaml: 4 deleted."


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "[extract]",
            "[extrct]",
            "parents has 'extrct', but there would be no job of that name. Did you mean 'extract'",
        ),
        (
            "name: extract,",
            "name: extract, parents: [load],",
            "parents: these jobs would wait for each other: 'load' → 'extract' → 'transform' → 'load'.",
        ),
        (
            "name: check, task_type: T_QUIET, parents: [extract]",
            "name: check, task_type: T_QUIET",
            "'load' would come after 'check' and 'extract', each with a schedule of its own; a graph has one.",
        ),
        ("[extract]", "[elsewhere]", "'load' would come after 'elsewhere' and 'extract', each with a schedule"),
    ],
)
def test_parents_that_can_not_be_are_found_by_a_dry_run(apply, old, new, told):
    make("elsewhere")
    for options in (["--dry-run"], []):
        code, lines = apply(GRAPH.replace(old, new, 1), *options)
        assert code == 2 and told in lines[0] and "jobs.yaml:" in lines[0]
    assert JobDefinition.objects.count() == 1


def test_a_job_that_the_file_does_not_have_may_come_before_and_after(apply):
    make("before")
    assert apply("jobs: [{name: mine, task_type: T_QUIET, parents: [before]}]")[0] == 0
    make("after", parents=["mine"])
    assert apply() == (0, ["Nothing to do."])

    code, lines = apply("source: jobs.yaml\njobs: []", "--prune", "--dry-run")

    assert code == 2
    assert "--prune would delete job 'mine', but 'after' comes after it, and is not in the file." in lines[0]


def test_parents_that_were_changed_by_hand_are_drift(apply):
    apply(GRAPH)
    verbs.edit(job("load").id, {"parents": ["check"], "when": "all_success"}, by())

    code, lines = apply(GRAPH)

    assert code == 3
    assert '!   when was applied as "all_done", is "all_success", and the file says "all_done"' in lines
    assert any(line.startswith('!   parents was applied as ["check", "transform"]') for line in lines)
    assert apply(GRAPH, "--overwrite", "load")[0] == 0
    assert parents("load") == ["check", "transform"]


def test_the_list_says_which_file_declares_a_job(apply):
    apply(FILE)
    make("by hand")
    by_hand(lane="high")

    lines = run("list")[1]
    assert [line.split("  ")[-1] for line in lines[::2]] == ["-", "jobs.yaml", "jobs.yaml; changed by hand: lane"]
    told = [json.loads(line) for line in run("list", "--json", "--source", "jobs.yaml")[1]]
    assert [(one["name"], one["declared"]["drift"]) for one in told] == [("invoices", []), ("report", ["lane"])]
    assert run("list", "--limit", "1")[1][-1] == "There are more; --limit shows them."
    assert run("list", "--limit", "0")[0] == 2
    assert run("list", "--tenant", "nobody") == (0, ["No job."])


def test_the_examples_of_the_checkout_and_of_the_page_can_be_applied(apply, tmp_path):
    example = (ROOT / "examples" / "jobs.yaml").read_text().replace("DEMO_HELLO", "T_QUIET")
    page = (ROOT / "docs" / "jobs-as-code.md").read_text()
    block = page.split("```yaml\n", 1)[1].split("```", 1)[0]
    program = Path(tmp_path, "page.py")
    program.write_text(page.split("```python\n", 1)[1].split("```", 1)[0])
    for known in ("INVOICE_RUN", "REPORT_SEND"):
        block = block.replace(known, "T_QUIET")

    assert apply(example.replace("DEMO_FLAKY", "T_QUIET"))[1][-1] == "Applied examples/jobs.yaml: 4 created."
    assert apply(block)[1][-1] == "Applied shop/jobs.yaml: 2 created."
    drills = (ROOT / "examples" / "drills.yaml").read_text().replace("OPS_DRILL", "T_QUIET")
    assert apply(drills)[1][-1] == "Applied drills.yaml: 1 created."
    assert [one.name for one in read(str(program)).jobs] == ["stock berlin", "stock lisbon", "invoices"]


def test_a_file_of_an_older_version_says_nothing_of_a_new_field(apply):
    """What was applied before a field existed had its default; what is no field any more counts for nothing."""
    apply(FILE)
    record = DeclaredJob.objects.get(job=job().id)
    del record.document["lane"], record.document["jitter"]
    record.document["gone"] = 1
    record.save()

    assert drift(record, job()) == [("lane", "", "default")]  # the handler's is filled in, so it is told
    assert apply() == (0, ["= report is as the file says, and declared by it from now on", "Nothing to change."])


def test_a_plan_of_a_bad_file_is_refused_as_a_whole():
    with pytest.raises(BadFile):
        file_of(parse("jobs: [{name: a}]", "x"), "x", None)
