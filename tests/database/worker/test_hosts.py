"""Hosts of callbacks: no more calls at a time or a second than allowed, over all workers; and while one is unwell its
tasks wait, one of them tries it, and none of them uses up a retry."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from django_punctual import schedule_many
from tasks_app import outgoing, sql
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.errors import InvalidTask, NotThere
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.hosts import shared_out
from tasks_app.core.rules import Rule
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.operations.hosts import try_now
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.why import why_task
from tasks_app.engine.worker.batch_run import BatchRun
from tasks_app.engine.worker.callbacks import lines
from tasks_app.engine.worker.callbacks.batch import OpenBatch
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle import hosts
from tasks_app.lifecycle.hosts import Called, Seen
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.models import AuditEntry, Host, HostHealth, HostPermit, ScheduleTask, TaskAttempt, TaskBatch
from tests.support.engine import claim_due, expire_lease, make_due, row, run_due
from tests.support.operators import operator
from tests.support.receiver import HERE, Receiver, Reply, receiver

pytestmark = pytest.mark.django_db
FAILURES = 3


@pytest.fixture(autouse=True)
def _calls_here(settings) -> Iterator[None]:
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE, "HOST_FAILURES": FAILURES}
    yield
    outgoing.client._client("").close()


@pytest.fixture
def there() -> Iterator[Receiver]:
    with receiver() as one:
        yield one


def down(call: object) -> Reply:
    return Reply(503, b"closed for today")


def host_of(there: Receiver) -> str:
    return there.url.split("/")[2]


def callbacks(there: Receiver, number: int, prefix: str = "a", **others: object) -> list[int]:
    payload = {"url": there.url, "sign": "", "timeout": 30}
    tasks = [{"key": f"{prefix} {n}", "payload": payload} for n in range(number)]
    return [one.task_id for one in schedule_many(HTTP_CALLBACK, tasks, **others)]


def in_batches(*sizes: int) -> list[UUID]:
    """Claim what is due in batches of so many."""
    return [UUID(claim_due(size, batches=1)[0].batch_no) for size in sizes]


def one_by_one(ids: list[int]) -> None:
    """Each in a batch of its own, as if they had come one after the other."""
    for batch in claim_due(1):
        run_batch(UUID(batch.batch_no), guarded=False)


def health(there: Receiver, tenant: str = "default") -> HostHealth | None:
    return HostHealth.objects.filter(tenant=tenant, host=host_of(there)).first()


def be_due(there: Receiver) -> None:
    """The time of the next try has come."""
    HostHealth.objects.filter(host=host_of(there)).update(try_at=timezone.now() - timedelta(seconds=1))


def states(ids: list[int]) -> list[tuple[str, int, str | None]]:
    return [(row(one).status, row(one).attempt, row(one).error_code or None) for one in ids]


# ---- the breaker ----


def test_after_so_many_failures_in_a_row_the_others_wait_and_use_up_no_retry(there):
    there.reply = down
    first = callbacks(there, FAILURES)
    one_by_one(first)
    rest = callbacks(there, 10, "later")

    run_due()

    assert states(first) == [("FAIL", 1, "HTTP_503")] * FAILURES
    assert states(rest) == [("INIT", 0, "HOST_UNWELL")] * 10
    assert len(there.calls) == FAILURES
    assert TaskAttempt.objects.filter(task_id__in=rest).count() == 0
    assert len({row(one).due_at for one in rest}) > 5  # not all at once
    assert all(row(one).due_at >= health(there).try_at for one in rest)


def test_within_one_batch_no_more_are_begun_than_were_on_their_way(there, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 2}
    there.reply = down
    ids = callbacks(there, 40)

    run_due()

    called = len(there.calls)
    assert FAILURES <= called <= FAILURES + 1
    assert sorted(states(ids)) == [("FAIL", 1, "HTTP_503")] * called + [("INIT", 0, "HOST_UNWELL")] * (40 - called)


def test_the_failures_of_one_task_count_once_so_that_it_dies_as_any_other(there):
    there.reply = down
    [task_id] = callbacks(there, 1, max_retry=4)

    for _ in range(5):
        make_due(task_id)
        run_due()

    assert states([task_id]) == [("DEAD", 5, "HTTP_503")]
    assert (len(there.calls), health(there).unwell_since) == (5, None)


def test_an_answer_in_between_starts_the_count_anew(there, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 1}
    there.reply = lambda call: Reply(200 if b'"a 2"' in call.body else 503)

    callbacks(there, FAILURES + 1)
    run_due()

    assert len(there.calls) == FAILURES + 1
    assert (len(health(there).tasks), health(there).unwell_since) == (1, None)


@pytest.mark.parametrize("status", [200, 404, 425])
def test_a_host_that_answers_whatever_it_says_is_well(there, status):
    there.reply = down
    one_by_one(callbacks(there, FAILURES - 1))
    assert health(there) is not None
    there.reply = lambda call: Reply(status)
    callbacks(there, 1, "again")

    run_due()

    assert health(there) is None


def unwell(there: Receiver) -> None:
    there.reply = down
    callbacks(there, FAILURES, "before")
    run_due()
    assert health(there).unwell_since is not None
    # However slowly the test goes on, the next tries of these are none of its business.
    ScheduleTask.objects.exclude(due_at=None).update(due_at=timezone.now() + timedelta(hours=1))
    there.calls.clear()


def test_one_task_tries_a_host_that_is_unwell_and_if_it_fails_no_retry_is_used(there):
    unwell(there)
    be_due(there)
    ids = callbacks(there, 10)

    run_due()

    assert len(there.calls) == 1
    assert states(ids) == [("INIT", 0, "HOST_UNWELL")] * 10
    assert (health(there).tries, health(there).trying) == (1, None)
    assert health(there).try_at > timezone.now() + timedelta(seconds=20)  # longer than the first time
    [tried] = [one for one in ids if "It tried" in row(one).error_msg]
    assert row(tried).due_at == max(row(one).due_at for one in ids)  # the next try is another's


def test_when_the_try_succeeds_the_others_follow_at_once(there):
    unwell(there)
    be_due(there)
    there.reply = lambda call: Reply()
    ids = callbacks(there, 10)

    run_due()

    assert states(ids) == [("SUCCESS", 0, None)] * 10
    assert health(there) is None


def test_only_one_batch_at_a_time_tries_a_host(there):
    unwell(there)
    be_due(there)
    wanted = {Called("default", host_of(there)): 1}
    callbacks(there, 2)
    first, second = in_batches(1, 1)

    assert hosts.ask(first, wanted, 32)[Called("default", host_of(there))].tries
    assert not hosts.ask(second, wanted, 32)[Called("default", host_of(there))].tries


def test_a_try_whose_worker_was_killed_is_anothers_as_soon_as_it_was_reaped(there):
    unwell(there)
    be_due(there)
    called = Called("default", host_of(there))
    callbacks(there, 2)
    first, second = in_batches(1, 1)
    assert hosts.ask(first, {called: 1}, 32)[called].tries

    TaskBatch.objects.filter(batch_no=first).update(started_at=timezone.now(), worker="killed")
    expire_lease(str(first))
    reap()

    assert hosts.ask(second, {called: 1}, 32)[called].tries


def test_a_late_failure_of_a_batch_from_before_does_not_move_the_next_try(there):
    unwell(there)
    before = health(there)
    callbacks(there, 1)
    [batch_no] = in_batches(1)

    hosts.note(batch_no, {Called("default", host_of(there)): Seen(failed=[99], error="late")}, {})

    assert (health(there).try_at, health(there).tries) == (before.try_at, before.tries)


def test_what_one_tenant_fails_is_not_held_against_another(there):
    unwell(there)
    there.reply = lambda call: Reply()
    payload = {"url": there.url, "sign": ""}
    [one] = schedule_many(HTTP_CALLBACK, [{"key": "a", "payload": payload}], tenant="acme")

    run_due()

    assert states([one.task_id]) == [("SUCCESS", 0, None)]
    assert health(there).unwell_since is not None


def test_a_host_that_asks_for_a_pause_is_not_tried_before(there):
    there.reply = lambda call: Reply(429, headers={"Retry-After": "900"})
    callbacks(there, FAILURES)

    run_due()

    assert health(there).try_at > timezone.now() + timedelta(seconds=880)


def test_an_expired_task_does_not_wait_for_its_host(there):
    unwell(there)
    [task_id] = callbacks(there, 1, expires_after=0.000_001)

    run_due()

    assert states([task_id])[0][0] == "CANCELLED"


def test_of_those_that_wait_for_a_host_a_few_ask_when_it_is_tried_and_the_others_much_later(there):
    there.reply = down
    one_by_one(callbacks(there, FAILURES))
    waiting = callbacks(there, 30, "later")
    run_due()
    assert (health(there).returned, health(there).crowd) == (30, 0)
    late = sorted((row(one).due_at - health(there).try_at).total_seconds() for one in waiting)
    assert late[19] < 3 and late[20] > 119

    be_due(there)
    make_due(*waiting)
    run_due()  # one tries it without success, and comes again behind the others
    assert (health(there).tries, health(there).returned, health(there).crowd) == (1, 30, 30)
    late = sorted((row(one).due_at - health(there).try_at).total_seconds() for one in waiting)
    assert late[19] < 4 and late[21] > 119

    HostHealth.objects.update(crowd=100_000)
    make_due(*waiting)
    run_due()
    late = [(row(one).due_at - health(there).try_at).total_seconds() for one in waiting]
    assert 119 < min(late) < 240 < max(late) < 441  # no more than about 500 of them in a second


def test_what_is_sent_back_just_when_its_host_becomes_well_does_not_wait(there):
    unwell(there)
    others = callbacks(there, 5, "others")
    run_due()
    ids = callbacks(there, 40, "later")
    [batch_no] = in_batches(40)
    batch = OpenBatch(BatchRun(start(batch_no, "worker-1"), REGISTRY.get(HTTP_CALLBACK)), threading.Event())
    batch.open()  # it reads that its host is unwell
    batch.tick()
    HostHealth.objects.all().delete()  # the release that comes with it does not find them: they are not written yet
    before = [row(one).due_at for one in others]
    batch.close()

    assert states(ids) == [("INIT", 0, "HOST_UNWELL")] * 40
    assert max(row(one).due_at for one in ids) < timezone.now() + timedelta(seconds=5)
    # A release by each batch made every worker release the whole backlog about once a second.
    assert [row(one).due_at for one in others] == before


def test_permits_of_calls_that_are_not_made_go_back_to_their_host(there):
    hosts.limit(host_of(there), operator(), rate=0.001, burst=40)
    callbacks(there, 40)
    [batch_no] = in_batches(40)
    batch = OpenBatch(BatchRun(start(batch_no, "worker-1"), REGISTRY.get(HTTP_CALLBACK)), threading.Event())
    batch.run.lost = True  # nothing of it may begin
    batch.open()
    assert Host.objects.get().permits < 1
    assert batch.tick()
    batch.close()

    assert there.calls == []
    assert Host.objects.get().permits == 40


def test_why_status_and_the_command_say_that_a_host_is_unwell(there):
    unwell(there)
    [task_id] = callbacks(there, 1)
    run_due()

    reason = why_task(row(task_id))
    assert reason.rule is Rule.HOST_UNWELL
    assert f"The last calls to {host_of(there)} failed" in reason.words
    assert "closed for today" in reason.words and "no retry is used" in reason.words
    HostHealth.objects.update(unwell_since=timezone.now() - timedelta(minutes=5))
    [problem] = [one for one in read_status().found if one.rule == "hosts_unwell"]
    assert host_of(there) in str(problem) and host_of(there) not in problem.outward
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("scheduler_status", stdout=out)
    assert f"{host_of(there)}" in out.getvalue() and "closed for today" in out.getvalue()
    HostHealth.objects.all().delete()
    assert "answers again" in why_task(row(task_id)).words


def test_a_person_has_it_tried_by_one_task_and_if_it_answers_the_others_follow_at_once(there):
    unwell(there)
    ids = callbacks(there, 10, "later")
    run_due()
    assert states(ids) == [("INIT", 0, "HOST_UNWELL")] * 10
    there.reply = lambda call: Reply()

    assert try_now(Called("default", host_of(there)), operator())

    run_due()
    assert [one[0] for one in states(ids)].count("SUCCESS") == 1
    dues = sorted(row(one).due_at for one in ids if row(one).due_at)
    assert dues[-1] < timezone.now() + timedelta(seconds=2)
    assert dues[-1] - dues[0] > timedelta(seconds=7 / 10)  # one after the other
    make_due(*(one for one in ids if row(one).due_at))
    run_due()
    assert states(ids) == [("SUCCESS", 0, None)] * 10
    assert not try_now(Called("default", host_of(there)), operator())
    assert not try_now(Called("acme", host_of(there)), operator())
    assert AuditEntry.objects.filter(verb="try").count() == 1


def test_what_failed_long_ago_is_forgotten(there):
    unwell(there)
    HostHealth.objects.update(failed_at=timezone.now() - timedelta(days=8))

    assert prune().hosts == 1
    assert health(there) is None


# ---- hosts that hang ----


def test_a_host_that_hangs_takes_no_place_that_calls_to_another_wait_for(there, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 8}
    answered, all_answered = [], threading.Event()

    def good(call: object) -> Reply:
        answered.append(call)
        if len(answered) == 30:
            all_answered.set()
        return Reply()

    def hanging(call: object) -> Reply:
        """Until the good one has answered all of its calls; it gives up if that never comes."""
        return Reply(200 if all_answered.wait(20) else 400)

    with receiver() as other:
        there.reply, other.reply = hanging, good
        ids = callbacks(there, 12) + callbacks(other, 30, prefix="b")
        run_due()

    assert states(ids) == [("SUCCESS", 0, None)] * 42


# ---- limits ----


class Crowd:
    """Counts how many calls are there at the same time. Each stays until one too many has come, which nobody may, or a
    moment: only a limit that does not hold ends it earlier."""

    def __init__(self, too_many: int) -> None:
        self.now = self.most = 0
        self._lock = threading.Condition()
        self._too_many = too_many

    def __call__(self, call: object) -> Reply:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self._lock.notify_all()
            self._lock.wait_for(lambda: self.most >= self._too_many, timeout=0.2)
            self.now -= 1
        return Reply()


def test_no_more_calls_at_the_same_time_than_allowed(there):
    there.reply = crowd = Crowd(too_many=3)
    hosts.limit(host_of(there), operator(), max_running=2)
    ids = callbacks(there, 6)

    run_due()

    assert states(ids) == [("SUCCESS", 0, None)] * 6
    assert crowd.most == 2
    assert HostPermit.objects.count() == 0


def test_what_others_hold_is_not_there_and_what_waits_for_it_comes_again_without_a_retry(there):
    hosts.limit(host_of(there), operator(), max_running=2)
    callbacks(there, 4)
    first, second = in_batches(2, 2)
    called = Called("default", host_of(there))
    assert hosts.ask(first, {called: 2}, 32)[called].places == 2

    run_batch(second, guarded=False)

    waiting = TaskBatch.objects.get(batch_no=second).ids
    assert states(waiting) == [("INIT", 0, "HOST_LIMIT")] * 2
    assert there.calls == []
    reason = why_task(row(waiting[0]))
    assert (reason.rule, "may be called 2 at a time" in reason.words) == (Rule.HOST_LIMIT, True)
    run_batch(first, guarded=False)
    make_due(*waiting)
    run_due()
    assert states(waiting) == [("SUCCESS", 0, None)] * 2


def test_places_of_a_worker_that_was_killed_are_free_as_soon_as_it_was_reaped(there):
    hosts.limit(host_of(there), operator(), max_running=2)
    callbacks(there, 4)
    first, second = in_batches(2, 2)
    called = Called("default", host_of(there))
    hosts.ask(first, {called: 2}, 32)
    assert hosts.ask(second, {called: 2}, 32)[called].places == 0

    TaskBatch.objects.filter(batch_no=first).update(started_at=timezone.now(), worker="killed")
    expire_lease(str(first))
    reap()

    assert hosts.ask(second, {called: 2}, 32)[called].places == 2


def test_a_batch_does_not_wait_for_ever_for_a_limited_host(there, monkeypatch):
    monkeypatch.setattr(lines, "HOLD_SECONDS", 0.0)
    hosts.limit(host_of(there), operator(), max_running=1)
    ids = callbacks(there, 40)

    run_due()

    waiting = [one for one in states(ids) if one[0] != "SUCCESS"]
    assert set(waiting) == {("INIT", 0, "HOST_LIMIT")}
    assert len(there.calls) == 40 - len(waiting)


def test_two_tenants_share_the_places_of_a_host(there):
    hosts.limit(host_of(there), operator(), max_running=3)
    callbacks(there, 1)
    [batch_no] = in_batches(1)
    ours, theirs = Called("default", host_of(there)), Called("acme", host_of(there))

    got = hosts.ask(batch_no, {ours: 2, theirs: 5}, 32)

    assert sorted([got[ours].places, got[theirs].places]) == [1, 2]


@pytest.mark.parametrize(
    ("number", "wanted", "shares"),
    [(0, [2, 5], [0, 0]), (3, [5, 5, 5], [1, 1, 1]), (9, [1, 5, 5], [1, 4, 4]), (20, [1, 5], [1, 5]), (3, [], [])],
)
def test_they_are_shared_out_one_by_one(number, wanted, shares):
    assert shared_out(number, wanted) == shares


def test_places_of_a_host_are_free_while_calls_to_another_take_long(there, monkeypatch):
    freed, release = threading.Event(), hosts.release

    def seen(batch_no, leaves):
        release(batch_no, leaves)
        if not HostPermit.objects.exists():
            freed.set()

    monkeypatch.setattr(hosts, "release", seen)
    with receiver() as other:
        other.reply = lambda call: Reply(200 if freed.wait(20) else 400)
        hosts.limit(host_of(there), operator(), max_running=1)
        ids = callbacks(there, 1) + callbacks(other, 1, prefix="b")
        run_due()

    assert states(ids) == [("SUCCESS", 0, None)] * 2


def test_no_more_calls_in_a_second_than_allowed_and_the_rest_is_spread_out(there):
    hosts.limit(host_of(there), operator(), rate=4, burst=4)
    ids = callbacks(there, 20)

    run_due()

    called = len(there.calls)
    assert 4 <= called <= 5
    waiting = [one for one in ids if row(one).status == "INIT"]
    assert states(waiting) == [("INIT", 0, "HOST_LIMIT")] * (20 - called)
    by_due = sorted(map(row, waiting), key=lambda one: one.due_at)
    assert by_due[-1].due_at - by_due[0].due_at > timedelta(seconds=2.5)  # 15 more at 4 a second
    assert "may be called 4 times a second" in why_task(by_due[-1]).words


def test_a_limit_is_changed_and_lifted_and_that_is_written_down(there):
    host = host_of(there)
    hosts.limit(host, operator(), max_running=2)
    changed = hosts.limit(host, operator(), rate=10)

    assert (changed.max_running, changed.rate, changed.burst, changed.permits) == (None, 10.0, 10.0, 10.0)
    hosts.lift(host, operator())
    assert not Host.objects.exists()
    with pytest.raises(NotThere, match="has no limit"), transaction.atomic():
        hosts.lift(host, operator())
    with pytest.raises(InvalidTask, match="must be a host"):
        hosts.limit("https://x/", operator(), rate=1)
    assert [one.verb for one in AuditEntry.objects.order_by("id")] == ["limit", "limit", "lift"]


def test_a_well_host_without_a_limit_costs_one_look(there, monkeypatch):
    asked = []
    monkeypatch.setattr(hosts, "run", lambda name, params: asked.append(name) or sql.run(name, params))
    callbacks(there, 3)

    run_due()

    assert (len(there.calls), asked) == (3, ["read_hosts"])
