"""Quarantine: a database that may be a copy dispatches nothing and calls nobody, until an operator says what it is."""

from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from django_punctual import cancel, reschedule
from tasks_app.core.alarms import Condition, Occurrence
from tasks_app.core.overdue import Answer
from tasks_app.engine import lookout
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.beat.chores import CHORES, Chores
from tasks_app.engine.beat.leases import Leases
from tasks_app.engine.operations import quarantine as orders
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.why import why_task
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.alarms.incidents import note, tell_due
from tasks_app.lifecycle.claim import claim_chosen
from tasks_app.lifecycle.installation import look, quarantine, read_facts, touch
from tasks_app.lifecycle.start import start
from tasks_app.management.commands.quarantine import Command
from tasks_app.metrics.reading import read as scrape
from tasks_app.models import AuditEntry, Installation, Node, TaskBatch
from tasks_app.sql import execute, run
from tests.support.alarms import channel, hurry, rule
from tests.support.api import Api
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import anybodys, claim_due, row, run_due
from tests.support.moves import TUESDAY, TYPE, State, claimed, scheduled, state
from tests.support.operators import operator
from tests.support.quarantine import installation, noted, overdue, restored_beside
from tests.support.ready import boss

pytestmark = pytest.mark.django_db

PAGE = "/admin/punctual/installation/"
RUN = Answer.checked("run")


def test_the_first_look_notes_what_the_server_is_and_later_ones_find_it_again():
    first = look()
    again = look()

    assert first.facts == again.facts == read_facts()
    assert (again.state, again.facts.timeline, again.facts.directory != "") == ("ACTIVE", 1, True)
    assert AuditEntry.objects.count() == 0


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"system": 7}, "the rows come from server 7"),
        ({"database": 7}, "another database of this server"),
        ({"timeline": 7}, "its timeline was 7, and is 1 now"),
        ({"directory": "/elsewhere"}, "its files were in /elsewhere"),
        ({"cluster": "other"}, ""),
    ],
)
def test_another_server_or_place_than_was_noted_is_a_copy(changed, words):
    noted(**changed)

    seen = look()

    if not words:  # this server has no name: nothing can be compared
        assert seen.state == "ACTIVE"
        return
    assert (seen.quarantined, words in seen.reason) == (True, True)
    assert look().reason == seen.reason
    assert list(AuditEntry.objects.values_list("actor", "verb", "outcome")) == [
        ("punctual", "quarantine", "quarantined")
    ]


def test_a_standby_that_was_known_goes_on_when_it_is_promoted_and_that_is_audited():
    noted(silent=20.0, standbys={"": 22.0}, timeline=7)

    seen = look()

    assert (seen.state, seen.facts.timeline) == ("ACTIVE", 1)
    [entry] = AuditEntry.objects.all()
    assert (entry.verb, "the standby at this machine was promoted" in entry.reason) == ("adopt", True)


@pytest.mark.parametrize("given", [{"silent": 400.0, "standbys": {"": 401.0}}, {"silent": 5.0}])
def test_one_that_comes_too_late_or_that_nobody_knew_is_asked_about(given):
    noted(timeline=7, **given)

    assert look().quarantined


def renew() -> None:
    """What a beat that may dispatch does every few seconds."""
    Leases(uuid4(), "beat", lambda _: None).run_once()


@pytest.mark.parametrize("sign", [touch, renew])
def test_a_sign_of_life_is_given_once_a_second_and_not_in_quarantine(sign):
    noted(silent=50.0)
    sign()
    assert look().silent_seconds < 10
    quarantine("a test")
    execute("UPDATE punctual_sign SET at = clock_timestamp() - interval '1 hour'")
    sign()

    assert look().silent_seconds > 3_000


def test_a_beat_whose_site_stands_by_since_its_look_gives_no_sign_of_life():
    noted(silent=50.0)
    Installation.objects.update(site="b")
    renew()
    assert look().silent_seconds > 40

    Installation.objects.update(site="main")
    renew()
    assert look().silent_seconds < 10


@pytest.mark.parametrize("sign", [touch, renew])
def test_signs_of_life_are_small_updates_beside_a_row_that_stays_as_it_is(sign):
    noted(silent=50.0)
    written = "SELECT relname, n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = ANY (%s)"
    before = {table: figures for table, *figures in execute(written, [["punctual_sign", "punctual_installation"]])}
    for _ in range(20):
        execute("UPDATE punctual_sign SET at = at - interval '2 s'")
        sign()

    after = {table: figures for table, *figures in execute(written, [["punctual_sign", "punctual_installation"]])}
    updates, hot = (now - then for now, then in zip(after["punctual_sign"], before["punctual_sign"], strict=True))
    assert (updates, hot) == (40, 40)
    assert after["punctual_installation"] == before["punctual_installation"]


def test_a_standby_that_has_not_streamed_for_a_week_is_forgotten_and_no_other():
    week = 7 * 86_400.0
    noted(silent=50.0, standbys={"10.0.0.6": week + 60, "10.0.0.7": week - 60, "": 1.0})
    quarantine("a test")
    touch()
    assert len(look().standbys) == 3  # nobody knows what is well here

    Installation.objects.update(state="ACTIVE")
    touch()

    assert look().standbys.keys() == {"10.0.0.7", ""}


def test_a_beat_of_a_version_before_is_a_sign_of_life_for_a_failover_and_starts_no_question():
    look()
    assert look().seen_at is None  # this look was no beat's
    noted(silent=900.0, standbys={"": 22.0}, timeline=7)
    Node.objects.create(node_id=uuid4(), kind=Node.BEAT, name="b")

    assert (look().state, look().facts.timeline) == ("ACTIVE", 1)


def test_what_a_role_may_not_ask_is_not_compared():
    execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    execute("CREATE ROLE plain_role")
    execute("SET LOCAL ROLE plain_role")

    few = read_facts()

    execute("RESET ROLE")
    assert (few.system, few.timeline, few.directory) == (None, None, "")
    assert few.database == read_facts().database


# ---- what is refused ----


def test_in_quarantine_nothing_is_claimed_in_any_way():
    [plain] = scheduled("a")
    scheduled("b", task_type="T_RATED")
    quarantine("a test")

    assert claim_due() == []  # by shard, and by type
    assert claim_chosen([plain], "default", 5, {}, "test", anybodys()) == []
    assert TaskBatch.objects.count() == 0

    Installation.objects.update(state="ACTIVE")
    assert sum(batch.size for batch in claim_due()) == 2


def test_what_was_claimed_before_is_not_started_and_due_again():
    number = claimed("a")
    [task] = TaskBatch.objects.get().ids
    due = row(task).claimed_due
    quarantine("a test")

    report = run_batch(number, guarded=False)

    assert not report.taken
    assert (state(task), row(task).due_at) == (State("INIT", due=True), due)


def test_what_had_begun_goes_on_to_its_end():
    number = claimed("a")
    begun = start(number, "worker", uuid4())
    quarantine("a test")

    assert len(begun.tasks) == 1
    assert start(number, "worker", TaskBatch.objects.get().ticket, again=True) is not None


def test_a_closed_beat_only_counts_and_one_that_rehearses_also_reaps():
    beat = Chores(uuid4(), "beat")
    BARRIER.closed = "a test"
    assert beat.run_once() == ["count"]
    execute("UPDATE punctual_chore SET next_at = '-infinity'")
    overdue("a")
    [batch] = claim_due()
    execute("UPDATE punctual_batch SET lease_until = now() - interval '1 hour'")

    BARRIER.closed, BARRIER.rehearsing = None, True
    assert beat.run_once() == ["count", "reap"]
    assert {"campaign", "alert", "ping", "archive", "prune", "move", "compensate", "canary"} <= {
        one.name for one in CHORES
    }
    assert TaskBatch.objects.get(batch_no=batch.batch_no).finished_at is not None


def test_nobody_is_told_anything():
    rule("trouble", tenant=None, conditions=("trouble",), channels=[channel(tenant=None)])
    note([Occurrence(Condition.TROUBLE, None, "no_dispatcher", sample={"sentence": "Nobody is there."})])
    hurry()
    tell_due()
    execute("INSERT INTO punctual_chore (name, next_at, ran_at) VALUES ('reap', now(), now() - interval '1 hour')")
    quarantine("a test")

    assert lookout.look() is None
    assert run("take_channels", {"lease": 60.0, "most": 5}) == []
    Installation.objects.update(state="ACTIVE")
    assert len(run("take_channels", {"lease": 60.0, "most": 5})) == 1


def test_a_web_process_of_a_copy_finds_out_before_it_says_that_no_beat_is_left():
    noted(system=7)
    execute("INSERT INTO punctual_chore (name, next_at, ran_at) VALUES ('reap', now(), now() - interval '1 hour')")

    assert lookout.look() is None
    assert installation().state == "QUARANTINED"


def test_processes_of_another_environment_do_nothing_and_leave_the_others_alone(settings):
    given = settings.PUNCTUAL
    settings.PUNCTUAL = given | {"ENVIRONMENT": "production"}
    BARRIER.look()
    assert BARRIER.open
    settings.PUNCTUAL = given | {"ENVIRONMENT": "staging"}
    BARRIER.look()

    assert "belongs to the environment 'production', and this process to 'staging'" in BARRIER.closed
    assert installation().state == "ACTIVE"
    assert read_status().verdict == "trouble"
    noted(directory="/elsewhere")
    assert look().state == "ACTIVE"  # what is a copy is for those to say who belong to it
    noted()
    settings.PUNCTUAL = given
    BARRIER.look()
    assert BARRIER.open  # without a name nothing is compared


# ---- what is told ----


def test_everybody_is_told():
    [task] = overdue("a")
    quarantine("restored from Monday")

    status = read_status()
    assert [one.rule for one in status.found] == ["in_quarantine"]
    assert "Nothing is dispatched and nobody is called" in status.problems()[0]
    assert "restored from Monday" in status.problems()[0] and "restored" not in status.found[0].outward
    reason = why_task(row(task))
    assert (reason.rule, "restored from Monday" in reason.words, "restored" in reason.outside) == (
        "quarantined",
        True,
        False,
    )
    assert scrape().values["quarantined"] == {(): 1.0}
    health = Api().get("/scheduler/health").body
    assert (health["installation"], health["status"]) == ("quarantined", "trouble")


def test_a_red_line_is_on_every_page_and_the_page_says_what_each_choice_would_do():
    overdue("a", "b", lane="low")
    quarantine("restored from Monday")
    rights = ("view_installation", "operate_installation", "view_scheduletask")
    olga = client_of(person("olga", *(f"punctual.{one}" for one in rights)))

    assert "restored from Monday" in olga.get("/admin/punctual/node/").content.decode()
    page = olga.get(PAGE).content.decode()
    assert "2 tasks due since" in page and "2 tasks run now." in page and "2 tasks are cancelled, and 0 run." in page
    assert "What is overdue" in olga.get(f"{PAGE}expire/").content.decode()
    given = {"reason": "it is the new primary", "operation": str(uuid4()), "older_than": "1h", "lanes": ["low"]}
    assert "not a length of time" in olga.post(f"{PAGE}expire/", given | {"older_than": "x"}).content.decode()
    assert olga.post(f"{PAGE}expire/", given).status_code == 302
    assert olga.post(f"{PAGE}expire/", given).status_code == 302  # sent twice, done once
    assert (installation().state, installation().answer["choice"]) == ("ACTIVE", "expire")
    assert "expire is carried out" in olga.get("/admin/punctual/node/").content.decode()
    assert olga.get(f"{PAGE}drop/").status_code == 404


RED_LINE = '<p class="pu-problem" role="alert">'
LISTS = ("articles_app/article", "inventory_app/product", "auth/user", "auth/group")


@pytest.mark.parametrize("path", [*LISTS, "auth/group/add", "punctual/scheduletask", "password_change"])
def test_a_red_line_is_on_the_pages_of_other_apps_too(path):
    admin = client_of(person("root", superuser=True))
    assert RED_LINE not in admin.get(f"/admin/{path}/").content.decode()

    quarantine("restored from Monday")

    page = admin.get(f"/admin/{path}/").content.decode()
    assert page.count(RED_LINE) == 1 and "restored from Monday" in page
    assert "operator.css" in page


def test_who_may_only_look_gives_no_orders_and_who_may_not_sees_nothing():
    vera = client_of(person("vera", "punctual.view_installation", "punctual.view_scheduletask"))
    noah = client_of(person("noah", "punctual.view_jobdefinition"))

    assert (vera.get(PAGE).status_code, vera.get(f"{PAGE}enter/").status_code) == (200, 403)
    assert noah.get(PAGE).status_code == 403


@pytest.mark.parametrize("order", ["quarantine", "resume", "rehearse"])
def test_people_need_the_right_to_give_orders_over_the_api(order):
    look()
    rights = [f"punctual.{verb}_{what}" for verb in ("view", "operate") for what in ("scheduletask", "jobdefinition")]
    vera = client_of(person("vera", "punctual.view_installation", *rights))
    body = {"reason": "x"} | ({"choice": "run"} if order == "resume" else {})

    answer = vera.post(f"/api/v1/installation/{order}", body, content_type="application/json")

    assert (answer.status_code, "punctual.operate_installation" in answer.json()["detail"]) == (403, True)
    assert installation().state == "ACTIVE"


def test_orders_over_the_api_and_what_a_tenant_sees_of_it():
    overdue("a", lane="low")
    api = boss()
    assert api.post("/installation/quarantine", {"reason": "a drill"}).body["state"] == "quarantined"
    assert api.post("/installation/quarantine", {"reason": "again"}).code == "SCH_422_INVALID"

    seen = api.get("/installation?older_seconds=60").body
    assert (seen["state"], seen["reason"], seen["overdue"][0]["lane"]) == ("quarantined", "a drill", "low")
    assert [one["choice"] for one in seen["choices"]] == ["run", "latest", "shift", "expire"]
    tenant = Api()
    assert tenant.get("/installation").body["overdue"] == []
    assert tenant.get("/installation").body["reason"] == ""
    assert tenant.post("/installation/resume", {"choice": "run", "reason": "x"}).code == "SCH_403_FORBIDDEN"
    assert api.post("/installation/rehearse", {"reason": "a drill"}).body["state"] == "rehearsing"
    assert api.post("/installation/resume", {"choice": "expire", "reason": "x"}).code == "SCH_422_INVALID"
    assert api.post("/installation/resume", {"choice": "run", "reason": "over"}).body["state"] == "active"


def command(*args: str) -> str:
    out = StringIO()
    call_command("quarantine", *args, stdout=out)
    return out.getvalue()


def test_the_command_stops_shows_and_lets_go_on():
    overdue("a", "b", "c", lane="low")
    assert "In quarantine" in command("enter", "--reason", "a drill")
    with pytest.raises(CommandError, match="in quarantine already"):
        command("enter", "--reason", "again")

    shown = command("show", "--older-than", "1h")
    assert "State: quarantined" in shown and "3 tasks due since" in shown and "quarantine expire  3 tasks" in shown
    assert '"state": "quarantined"' in command("show", "--json")
    assert "Nothing was changed. 3 tasks are cancelled" in command("expire", "--older-than", "1h", "--dry-run")
    assert installation().state == "QUARANTINED"
    with pytest.raises(CommandError, match="--reason is missing"):
        command("resume")
    assert "Done: 3 tasks changed." in command("expire", "--older-than", "1h", "--reason", "over")
    assert (installation().state, installation().held_before) == ("ACTIVE", None)
    with pytest.raises(CommandError, match="neither in quarantine nor rehearsing"):
        command("resume", "--reason", "again")


def test_resuming_makes_this_server_the_installations():
    noted(system=7, timeline=7, directory="/elsewhere")  # as after pg_upgrade, before any beat has been started
    scheduled("a")

    orders.resume(RUN, operator())

    assert look().state == "ACTIVE"
    assert read_facts() == look().facts
    assert len(run_due()) == 1


# ---- a rehearsal ----


def test_in_a_rehearsal_no_handler_is_called_and_afterwards_all_is_as_it_was():
    tasks = overdue("a", "b")
    dues = {task: row(task).due_at for task in tasks}
    quarantine("a test")
    orders.rehearse(operator())

    assert [report.taken for report in run_due()] == [False]
    assert [report.taken for report in run_due()] == []  # once each
    assert why_task(row(tasks[0])).rule == "rehearsed"
    assert TaskBatch.objects.get().finished_at is not None
    orders.resume(RUN, operator())
    assert installation().answer["choice"] == "run"
    assert "Done: 2 tasks" in str(carried_out())

    assert {task: row(task).due_at for task in tasks} == dues
    assert len(run_due()) == 1
    assert [state(task).status for task in tasks] == ["SUCCESS", "SUCCESS"]


def carried_out() -> str:
    out = StringIO()
    Command(stdout=out)._carry_out()
    return out.getvalue()


def test_what_somebody_moved_or_cancelled_in_a_rehearsal_stays_so():
    moved, cancelled = overdue("a", "b")
    quarantine("a test")
    orders.rehearse(operator())
    run_due()
    reschedule(TYPE, "a", at=TUESDAY)
    cancel(TYPE, "b", reason="not wanted")
    orders.resume(RUN, operator())
    carried_out()

    assert row(moved).due_at == TUESDAY
    assert state(cancelled).status == "CANCELLED"


def test_only_out_of_quarantine_there_is_a_rehearsal():
    with pytest.raises(CommandError, match="only an installation in quarantine"):
        command("rehearse", "--reason", "a drill")


# ---- a real copy ----


@pytest.mark.django_db(transaction=True)
def test_a_dump_that_is_restored_beside_the_original_dispatches_nothing(tmp_path):
    look()
    touch()
    number = claimed("claimed")
    scheduled("due")
    Node.objects.create(node_id=uuid4(), kind="WORKER", name="w", slots=4, lanes=["default"])
    with restored_beside(tmp_path):
        assert look().quarantined and "another database of this server" in look().reason
        assert claim_due() == []
        assert not run_batch(UUID(str(number)), guarded=False).taken
        assert TaskBatch.objects.filter(started_at__isnull=False).count() == 0
    assert look().state == "ACTIVE"
    assert run_batch(UUID(str(number)), guarded=False).settled == 1
