"""Who may do what: every role at every endpoint and every page, which are taken from the code, so none is forgotten.

And what somebody would try who wants more than they have: other tenants' rows, forged forms, fields they may not set.
"""

import json
import re
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.urls import URLPattern, get_resolver

from django_punctual import ToStream, schedule, subscribe
from tasks_app import scope
from tasks_app.api import needs as endpoints
from tasks_app.console import needs as pages
from tasks_app.core.roles import Role, highest
from tasks_app.engine.operations.api_tokens import issue, known
from tasks_app.engine.operations.members import grant, rights_of
from tasks_app.lifecycle.tenants import suspend
from tasks_app.models import (
    AlarmAlert,
    AlarmChannel,
    AlarmIncident,
    AlarmRule,
    ApiToken,
    AuditEntry,
    Calendar,
    Campaign,
    JobDefinition,
    Membership,
    OwnedUnit,
    ScheduleTask,
    Secret,
    Subscription,
)
from tests.support.alarms import channel
from tests.support.api import JOB, ROOT, Api
from tests.support.clients import client_of
from tests.support.jobs import make
from tests.support.live import a_beat_is_alive
from tests.support.members import LEAKED, browser, member, rows_of
from tests.support.operators import operator
from tests.support.scale import some
from tests.support.schema import OPERATIONS, Operation

pytestmark = pytest.mark.django_db

OWN = [one for one in OPERATIONS if not one.path.startswith("/stock") and one.id not in endpoints.NOBODY_IS_ASKED]
NOBODY = 987_654_321
OPERATING = (Role.OPERATOR, Role.ADMIN)
HEADERS = {"If-Match": "1", "Idempotency-Key": "of a person"}
# Pages of those who run the installation: what they show is of all tenants, or of none.
PLATFORM = {
    *("lane", "fleet", "health", "forecast", "job_forecast", "job_panel", "task_decrypt"),
}
PLATFORM_MODELS = ("taskbatch", "node", "recovery", "host", "safeguard", "installation", "site", "tenant")
FIELD = {"job_id": "job_id", "task": "task", "letter": "letter", "calendar_id": "calendar_id", "campaign": "campaign"}
FIELD |= {"token_id": "token_id", "member_id": "member_id", "event_id": "event"}
FIELD |= {name: name for name in ("rule_id", "channel_id", "incident_id", "subscription_id", "secret_id")}
OF_MODEL = {"scheduletask": "task", "jobdefinition": "job_id", "calendar": "calendar_id", "campaign": "campaign"}
OF_MODEL |= {"dlqentry": "letter", "auditentry": "entry", "apitoken": "token_id", "membership": "member_id"}
OF_MODEL |= {"subscription": "subscription_id"}


def our_pages() -> dict[str, str]:
    """The addresses of our own pages, by name."""

    def walk(resolver, prefix: str):
        for one in resolver.url_patterns:
            where = prefix + str(one.pattern)
            if not isinstance(one, URLPattern):
                yield from walk(one, where)
            elif where.startswith("/admin/punctual/") and one.name:
                yield one.name, where

    return dict(walk(get_resolver(), "/"))


PAGES = our_pages()
MEMBERS = {name: where for name, where in PAGES.items() if name in pages.NEEDS}


def filled(where: str, rows, name: str = "") -> str:
    """The address, with the ids of these rows in it."""
    model = where.split("/")[3]

    def value(found: re.Match) -> str:
        field = found[1].rpartition(":")[2]
        if field == "verb":
            return "cancel" if "campaign" in name else "skip" if "firing" in name else "pause"
        if field == "operation":
            return str(uuid4())
        return str(getattr(rows, OF_MODEL.get(model, "") if field == "object_id" else FIELD.get(field, ""), NOBODY))

    return re.sub(r"<([^>]+)>", value, where)


def everything() -> list:
    models = (JobDefinition, ScheduleTask, Calendar, Campaign, Membership)
    models += (AlarmRule, AlarmChannel, AlarmIncident, Subscription, Secret)
    tokens = ApiToken.objects.order_by("id").values("tenant", "right", "types", "lanes", "revoked_at")
    return [list(tokens), *(list(model.objects.order_by("id").values()) for model in models)]


# ---- the table ----


def test_each_endpoint_and_each_page_has_its_row_in_the_table():
    assert {one.id for one in OWN} == set(endpoints.NEEDS)
    others = {
        name
        for name, where in PAGES.items()
        if name.removeprefix("punctual_") in PLATFORM or where.split("/")[3] in PLATFORM_MODELS
    }
    left = set(PAGES) - set(pages.NEEDS) - others
    assert left <= {name for name in PAGES if name.endswith(("_add", "_delete", "_history", "_change"))}, left
    assert set(pages.NEEDS) <= set(PAGES)


@pytest.mark.parametrize("role", list(Role))
def test_a_role_may_call_what_the_table_says_and_nothing_else(role, redis):
    """As a person with a session, and as a token that has the same right. What is not there is not found: nothing is
    changed by those who may."""
    number, client = list(Role).index(role), browser(role)
    token = Api(token=issue("t", "acme", operator(), rights=[highest(role.rights)])[1])
    before = everything()

    def may(one: Operation, role: Role = role) -> bool:
        return endpoints.NEEDS[one.id] in role.rights and one.id not in endpoints.PLATFORM

    def by_person(one: Operation, url: str, body: dict | None) -> tuple[int, dict]:
        answer = client.generic(one.method, ROOT + url, json.dumps(body), "application/json", headers=HEADERS)
        return answer.status_code, answer.json() if answer.content else {}

    def by_token(one: Operation, url: str, body: dict | None) -> tuple[int, dict]:
        answer = token.call(one.method, url, body, If_Match="1", Idempotency_Key="of a token")
        return answer.status, answer.body or {}

    # What is refused to a role and not to the next is always tried; of the rest, and of what it may, a part.
    after = list(Role)[number + 1 : number + 2]
    first = [one for one in OWN if not may(one) and all(may(one, next_) for next_ in after)]
    asked = [(by_token, one) for one in [*first, *some([one for one in OWN if one not in first], number, of=4)]]
    asked += [(by_person, one) for one in some(OWN, number, of=4)]
    for call, one in asked:
        redis.flushall()  # so many calls in a minute are too many
        # Not an allowed name: setting a secret makes what is missing.
        names = {"username": "nobody", "name": "no such name"}
        url = one.url(**dict.fromkeys(re.findall(r"\{(\w+_id)\}", one.path), NOBODY), **names)
        status, said = call(one, url, {"reason": "x"} if one.writes else None)
        forbidden = status == 403 and said.get("code") == "SCH_403_FORBIDDEN"
        # What cannot be read, or lacks something, is told so first by those endpoints that ask late.
        late = one.id in endpoints.PLATFORM and status in (404, 422)
        assert forbidden is not may(one) or late, (role, one.id, status, said)
        assert status != 401 and status < 500, (one.id, status)
    assert everything() == before


@pytest.mark.parametrize("role", list(Role))
def test_a_role_opens_the_pages_that_the_table_says_and_no_others(role):
    number, client, rows = list(Role).index(role), browser(role), rows_of("acme")
    JobDefinition.objects.update(created_by="author-of-acme")
    before = everything()
    opened = [name for name in PAGES if pages.NEEDS.get(name) in role.rights]
    for name in some([name for name in PAGES if name not in opened], number, of=4):
        answer = client.get(filled(PAGES[name], rows, name))
        assert answer.status_code == 403, (role, name, answer.status_code)
    for name in some(opened, number, of=4):
        # An order is a POST; and there is no such operation or run.
        gone = name in ("punctual_operation", "punctual_undo") or name.startswith("punctual_graphrun_")
        answer = client.get(filled(PAGES[name], rows, name))
        assert answer.status_code in (200, 302, 405, 404 if gone else 200), (role, name, answer.status_code)
    assert everything() == before


def test_what_one_may_not_do_is_not_offered():
    rows = rows_of("acme")
    offered = {}
    for role in Role:
        client = browser(role)
        job = client.get(f"/admin/punctual/jobdefinition/{rows.job_id}/change/").content.decode()
        tasks = client.get("/admin/punctual/scheduletask/").content.decode()
        first = client.get("/admin/").content.decode()
        offered[role] = (
            f"jobdefinition/{rows.job_id}/edit/" in job,
            "jobdefinition/add/" in client.get("/admin/punctual/jobdefinition/").content.decode(),
            'value="matching"' in tasks,
            f'name="ids" value="{rows.task}"' in tasks,
            "punctual/membership/" in first,
            "punctual/taskbatch/" in first or "punctual/tenant/" in first,
        )
        for model in ("alarmrule", "alarmchannel", "alarmincident", "subscription", "secret"):
            listed = client.get(f"/admin/punctual/{model}/").content.decode()
            assert f"punctual/{model}/" in first and "secret" in listed
            assert (f"{model}/add/" in listed) is (role in OPERATING and model != "alarmincident")
            if one := {"alarmrule": rows.rule_id, "secret": rows.secret_id}.get(model):
                assert (f"{model}/{one}/delete/" in listed) is (role in OPERATING)
        for model, one in (("alarmchannel", rows.channel_id), ("subscription", rows.subscription_id)):
            shown = client.get(f"/admin/punctual/{model}/{one}/change/").content.decode()
            assert "secret" in shown and (f"{one}/edit/" in shown) is (f"{one}/test/" in shown) is (role in OPERATING)
    assert offered == {
        Role.VIEWER: (False, False, False, False, False, False),
        Role.AUTHOR: (False, True, False, False, False, False),
        Role.OPERATOR: (True, True, True, True, False, False),
        Role.ADMIN: (True, True, True, True, True, False),
    }


# ---- another tenant ----


@pytest.fixture
def code_alone(monkeypatch):
    """The database shows everything. That it hides alone what is another's, test_isolation.py tries."""
    monkeypatch.setattr(scope, "tenant_scope", lambda _: scope.ALL_TENANTS)


def test_what_belongs_to_another_tenant_is_not_there_on_any_page(code_alone):
    """Told as what does not exist; of what doesn't, `make test` asks for a quarter."""
    theirs, client = rows_of("other"), browser(Role.ADMIN)
    before, beside = everything(), some([*MEMBERS], 0, of=4)
    for name, where in MEMBERS.items():
        if "<" not in where:
            page = client.get(where)
            shown = page.getvalue().decode()
            assert page.status_code == 405 or not LEAKED.search(shown), name
            continue
        for method in ("get", "post"):
            told = [
                getattr(client, method)(filled(where, rows, name), {"reason": "x", "operation": uuid4()}).status_code
                for rows in ((theirs, None) if name in beside else (theirs,))
            ]
            assert told[0] in (404, 405) and len({*told}) == 1, (name, method, told)
    assert everything() == before


@pytest.mark.parametrize("verb", ["cancel", "retry", "move"])
def test_an_order_for_tasks_of_another_tenant_is_refused_whole(verb):
    theirs, client = rows_of("other"), browser(Role.ADMIN)
    own = schedule("T_QUIET", "own", tenant="acme", delay=3600).task_id
    before = everything()
    sent = {"verb": verb, "scope": "chosen", "reason": "x", "at": "2090-01-01T00:00", "operation": uuid4()}

    for where in ("order/", "order/run/"):
        answer = client.post(f"/admin/punctual/scheduletask/{where}", sent | {"ids": f"{own},{theirs.task}"})
        assert answer.status_code == 404, where
    by_filter = sent | {"scope": "matching", "filter": "tenant=other", "verb": verb}
    assert client.post("/admin/punctual/scheduletask/order/run/", by_filter).status_code == 400
    letters = sent | {"verb": "replay", "ids": str(theirs.letter)}
    client.post("/admin/punctual/dlqentry/order/run/", letters)

    assert everything() == before


def test_lists_filters_and_exports_show_the_own_tenant_alone(code_alone):
    """Lists without a filter, the test of all pages opens."""
    client = browser(Role.VIEWER)
    rows_of("other")
    schedule("T_QUIET", "visible", tenant="acme", delay=3600)
    lists = ("scheduletask", "jobdefinition", "dlqentry", "campaign", "calendar", "graphrun", "auditentry")
    lists += ("alarmrule", "alarmchannel", "alarmincident", "subscription", "secret")
    for number, where in enumerate(lists):
        for query in some(("?tenant=other", "?tenant="), number, of=2):
            answer = client.get(f"/admin/punctual/{where}/{query}")
            assert not LEAKED.search(answer.content.decode()), (where, query)
    table = b"".join(client.get("/admin/punctual/scheduletask/export/")).decode()
    assert "visible" in table and "secret" not in table
    assert client.get("/admin/punctual/scheduletask/export/?tenant=other").status_code == 400


def test_what_went_wrong_on_a_channel_of_the_operators_is_not_for_a_tenant(code_alone):
    incident = rows_of("acme").incident_id
    for name, tenant in (("ours", "acme"), ("on call", None)):
        alert = {"id": uuid4(), "incident": incident, "kind": "opened", "body": {"title": "late"}}
        error = f"mail server of {name} said no"
        AlarmAlert.objects.create(channel=channel(name, tenant=tenant).id, error=error, **alert)

    page = browser(Role.VIEWER).get(f"/admin/punctual/alarmincident/{incident}/").content.decode()
    answer = Api(token=issue("ci", "acme", operator(), rights=["read"])[1]).get(f"/alarms/incidents/{incident}").body

    for shown in (page, str(answer)):
        assert "mail server of ours" in shown and "mail server of on call" not in shown


def test_a_session_works_in_the_tenants_of_its_person_and_in_no_other():
    user = member(Role.VIEWER)
    grant("beta", user.username, Role.OPERATOR, operator())
    make("beta's", tenant="beta")
    client = client_of(user)

    assert "beta&#x27;s" not in client.get("/admin/punctual/jobdefinition/").content.decode()
    assert client.post("/admin/tenant/", {"tenant": "other"}).status_code == 404
    assert client.post("/admin/tenant/", {"tenant": "beta"}).status_code == 302
    assert "beta&#x27;s" in client.get("/admin/punctual/jobdefinition/").content.decode()
    assert client.get("/admin/punctual/jobdefinition/add/").status_code == 200
    Membership.objects.filter(tenant="beta").delete()
    assert client.get("/admin/punctual/jobdefinition/add/").status_code == 403  # in acme again, where they only look

    answers = {name: client.get(f"{ROOT}/jobs", headers={"X-Tenant": name}) for name in ("acme", "other", "no-such")}
    assert [one.status_code for one in answers.values()] == [200, 401, 401]
    assert answers["other"].content == answers["no-such"].content


# ---- one's own ----


def test_an_author_changes_what_is_their_own_and_looks_at_the_rest(redis):
    a_beat_is_alive()
    author = Api(token=issue("ci", "acme", operator(), rights=["schedule"])[1])
    other = schedule("T_QUIET", "theirs", tenant="acme", delay=3600).task_id
    job = make("theirs", tenant="acme")
    own = author.post("/tasks", {"task_type": "T_QUIET", "key": "mine", "delay": 3600}).body["id"]
    bulk = author.post("/tasks/bulk", {"tasks": [{"task_type": "T_QUIET", "key": "many", "delay": 3600}]}).body["items"]
    mine = author.post("/jobs", JOB).body["id"]
    later = {"at": "2090-01-01T00:00:00Z"}

    assert author.get(f"/tasks/{other}").status == author.get(f"/jobs/{job.id}").status == 200
    refused = [
        author.post(f"/tasks/{other}/cancel"),
        author.post(f"/tasks/{other}/retry"),
        author.post(f"/tasks/{other}/reschedule", later),
        author.post("/tasks/reschedule", later | {"task_type": "T_QUIET", "key": "theirs"}),
        author.call("PATCH", f"/jobs/{job.id}", {"name": "x"}, If_Match="1"),
        author.post(f"/jobs/{job.id}/pause", {"reason": "x"}),
        author.post(f"/jobs/{job.id}/trigger", Idempotency_Key="k"),
        author.call("DELETE", f"/jobs/{job.id}"),
        author.post(f"/jobs/{mine}/backfill", {"since": "2026-03-01T00:00:00Z"}, Idempotency_Key="k"),
    ]
    assert {(one.status, one.code) for one in refused} == {(403, "SCH_403_FORBIDDEN")}
    targets = {"tasks": [{"id": other}, {"id": own}, {"task_type": "T_QUIET", "key": "theirs"}]}
    items = author.post("/tasks/bulk/cancel", targets).body["items"]
    assert [one["error"] and one["error"]["code"] for one in items] == ["SCH_403_FORBIDDEN", None, "SCH_403_FORBIDDEN"]
    assert author.post(f"/tasks/{bulk[0]['task_id']}/reschedule", later).status == 200
    assert author.post(f"/jobs/{mine}/pause", {"reason": "x"}).status == 200
    task = author.post(f"/jobs/{mine}/trigger", Idempotency_Key="k2").body["task_id"]
    assert author.post(f"/tasks/{task}/cancel").status == 200
    assert OwnedUnit.objects.count() == 2 and ScheduleTask.objects.get(id=other).status == "INIT"


def test_an_author_in_the_console_changes_their_own_alone():
    rows, client = rows_of("acme"), browser(Role.AUTHOR)
    own = make("mine", tenant="acme")
    JobDefinition.objects.filter(id=own.id).update(created_by="author-of-acme")
    OwnedUnit.objects.create(tenant="acme", task_type="T_QUIET", biz_key="mine", owner="author-of-acme")
    task = schedule("T_QUIET", "mine", tenant="acme", delay=3600).task_id
    sent = {"verb": "cancel", "scope": "chosen", "reason": "x"}

    for job, status in ((rows.job_id, 403), (own.id, 302)):
        given = {"reason": "x", "operation": uuid4()}
        assert client.post(f"/admin/punctual/jobdefinition/{job}/order/pause/", given).status_code == status
    for ids, status in ((str(rows.task), 403), (f"{task},{rows.task}", 403), (str(task), 302)):
        given = sent | {"ids": ids, "operation": uuid4()}
        assert client.post("/admin/punctual/scheduletask/order/run/", given).status_code == status
    matching = sent | {"scope": "matching", "operation": uuid4()}
    assert client.post("/admin/punctual/scheduletask/order/run/", matching).status_code == 403
    assert ScheduleTask.objects.get(id=task).status == "CANCELLED"
    assert ScheduleTask.objects.get(id=rows.task).status != "CANCELLED"


# ---- more than one has ----


def test_nobody_grants_more_than_they_have(redis):
    admin, outsider = member(Role.ADMIN), member(Role.ADMIN, "other")
    get_user_model().objects.create_user("ada", is_staff=True)
    client, elsewhere = client_of(admin), client_of(outsider)

    def put(who, tenant: str, user: str, role: str):
        where = f"{ROOT}/members/{user}"
        given = {"X-Tenant": tenant}
        return who.put(where, {"role": role}, content_type="application/json", headers=given).status_code

    assert put(client, "acme", "ada", "operator") == 200
    assert put(elsewhere, "acme", "ada", "admin") == 401  # no member of acme: as if there were no such tenant
    assert put(elsewhere, "acme", "admin-of-other", "admin") == 401
    for role in ("viewer", "author", "operator"):
        grant("acme", "ada", role, operator())
        ada = client_of(get_user_model().objects.get(username="ada"))
        assert put(ada, "acme", "ada", "admin") == 403, role  # oneself
        assert put(ada, "acme", "admin-of-acme", "viewer") == 403
        made = ada.post(f"{ROOT}/tokens", {"name": "t"}, content_type="application/json")
        assert made.status_code == 403
    grant("acme", "ada", "admin", operator())
    assert put(client_of(get_user_model().objects.get(username="ada")), "internal", "ada", "admin") == 401
    assert rights_of(get_user_model().objects.get(username="ada")).roles == {"acme": Role.ADMIN}


def test_a_token_is_never_worth_more_than_who_made_or_changed_it(redis):
    client = client_of(member(Role.ADMIN))
    large, _ = issue("large", "acme", operator(), can_write=True, types=["HTTP_CALLBACK"], lanes=["critical"])
    foreign, _ = issue("foreign", "other", operator())

    def post(path: str, body: dict, method: str = "post") -> int:
        return getattr(client, method)(f"{ROOT}{path}", body, content_type="application/json").status_code

    for body in ({"types": ["HTTP_CALLBACK"]}, {"types": ["T_CLOSED"]}, {"lanes": ["critical"]}):
        assert post("/tokens", {"name": "t"} | body) == 403, body
    assert post("/tokens", {"name": "t", "tenant": "other"}) == 422  # no such field
    assert post(f"/tokens/{large.id}", {"right": "administer"}, "patch") == 403  # its types and lanes stay beyond
    assert post(f"/tokens/{foreign.id}", {"right": "read"}, "patch") == 404
    assert post(f"/tokens/{foreign.id}/revoke", {}) == 404
    assert post("/tokens", {"name": "t", "right": "administer"}) == 201
    assert post(f"/tokens/{large.id}", {"right": "read", "types": None, "lanes": ["low"]}, "patch") == 200
    assert post(f"/tokens/{large.id}/revoke", {}) == 204

    small = Api(
        token=issue("s", "acme", operator(), rights=["administer"], types=["T_QUIET"], lanes=["low"], days=1)[1]
    )
    for body in ({"days": 0.5}, {"types": ["T_QUIET"], "lanes": ["low"]}, {"types": ["T_PLAIN"], "lanes": ["low"]}):
        assert small.post("/tokens", {"name": "t"} | body).status == 403, body
    assert small.put("/members/admin-of-acme", {"role": "viewer"}).status == 403
    made = small.post("/tokens", {"name": "t", "types": ["T_QUIET"], "lanes": ["low"], "days": 0.5})
    assert made.status == 201 and known(made.body["text"]).types == {"T_QUIET"}


def test_forms_that_were_forged_grant_nothing():
    client = browser(Role.ADMIN)
    get_user_model().objects.create_user("ada", is_staff=True)
    operator_of = browser(Role.OPERATOR)
    sent = {"reason": "x", "user": "ada", "role": "viewer", "name": "t", "may": "read", "days": "1"}
    before = everything()

    def post(who, path: str, **more) -> int:
        return who.post(f"/admin/punctual/{path}", sent | {"operation": uuid4()} | more).status_code

    assert post(client, "membership/add/", tenant="other") == post(client, "apitoken/add/", tenant="other") == 400
    assert post(client, "membership/add/", role="superuser") == post(client, "apitoken/add/", may="everything") == 400
    assert post(client, "membership/add/", tenant="internal") == 400
    assert (
        post(client, "apitoken/add/", types="HTTP_CALLBACK") == post(client, "apitoken/add/", lanes="critical") == 400
    )
    assert post(operator_of, "membership/add/") == post(operator_of, "apitoken/add/") == 403
    job = {"name": "j", "task_type": "T_QUIET", "every": "60", "timezone": "UTC", "dst_gap": "shift"}
    job |= {"dst_repeat": "once", "catch_up": "latest", "overlap": "skip"}
    for more in ({"task_type": "T_CLOSED"}, {"task_type": "T_URGENT"}, {"lane": "critical"}, {"tenant": "other"}):
        assert post(client, "jobdefinition/add/", **job | more) == 400, more
    assert everything() == before
    assert post(client, "membership/add/") == post(client, "jobdefinition/add/", **job) == 302
    assert Membership.objects.get(username="ada").tenant == JobDefinition.objects.get().tenant == "acme"


def test_alarms_subscriptions_and_secrets_are_made_for_the_own_tenant_and_within_its_bounds(redis):
    """On the pages as over the API: no mail in the installation's name, no stream that is everybody's."""
    client = browser(Role.OPERATOR)
    shared = channel("the operators'", tenant=None)
    sent = {"reason": "x", "name": "own", "enabled": "on", "most_per_hour": "5", "events": "task.dead"}
    sent |= {"url": "https://hooks.example.com/a", "repeat_minutes": "30", "quiet_minutes": "10", "conditions": "dead"}

    def post(path: str, **more) -> tuple[int, str]:
        answer = client.post(f"/admin/punctual/{path}", sent | {"operation": uuid4()} | more)
        return answer.status_code, answer.content.decode()

    before = everything()
    for path in ("alarmchannel/add/", "alarmrule/add/", "subscription/add/", "secret/add/"):
        assert post(path, kind="webhook", channels=shared.id, tenant="other")[0] == 400, path
    assert post("alarmchannel/add/", kind="email", to="a@example.com", url="")[0] == 400
    over_api = {"name": "own", "kind": "email", "to": ["a@example.com"]}
    mail = client.post(f"{ROOT}/alarms/channels", over_api, content_type="application/json")
    assert (mail.status_code, mail.json()["code"]) == (403, "SCH_403_FORBIDDEN")
    assert post("alarmrule/add/", channels=shared.id)[0] == 400
    assert everything() == before

    assert "whsec_" in post("alarmchannel/add/", kind="webhook")[1]
    [own] = AlarmChannel.objects.filter(tenant="acme")
    assert post("alarmrule/add/", channels=own.id, conditions="trouble")[0] == 400  # of all tenants
    assert post("alarmrule/add/", channels=own.id)[0] == 302
    assert "whsec_" in post("subscription/add/", sink="stream", stream="everybody")[1]
    assert "whsec_" in post("secret/add/")[1]
    [told] = Subscription.objects.all()
    assert (told.tenant, told.sink) == (Secret.objects.get().tenant, "webhook") and told.tenant == "acme"

    # What operators have given the tenant stays as it is, and is not shown.
    [rule] = AlarmRule.objects.all()
    AlarmRule.objects.update(channels=[shared.id, own.id])
    stream = subscribe("theirs", events=["*"], to=ToStream("everybody"), tenant="acme")
    page = client.get(f"/admin/punctual/alarmrule/{rule.id}/change/").content.decode()
    assert "It also tells a channel of the operators" in page and "the operators&#x27;" not in page
    assert post(f"alarmrule/{rule.id}/change/", name="renamed", channels=own.id, revision=rule.revision)[0] == 302
    assert post(f"subscription/{stream.id}/edit/", sink="webhook")[0] == 302
    stream.refresh_from_db()
    assert set(AlarmRule.objects.get().channels) == {shared.id, own.id}
    assert (stream.sink, stream.target["stream"], stream.events) == ("stream", "everybody", ["task.dead"])
    assert post(f"alarmchannel/{shared.id}/test/")[0] == 404
    for verb in (
        "pause",
        "resume",
        "secret",
        "withdraw",
        "delete",
    ):  # in the scope of the tenant, as the database has it
        assert post(f"subscription/{told.id}/order/{verb}/")[0] in (200, 302), verb
    kept = Secret.objects.get()
    assert post(f"secret/{kept.id}/set/", keep_old="on", hosts="api.example.com")[0] == 200
    assert post(f"secret/{kept.id}/withdraw/")[0] == post(f"secret/{kept.id}/delete/")[0] == 302
    assert post(f"alarmchannel/{own.id}/edit/", url="", revision=own.revision)[0] == 302
    assert post(f"alarmrule/{rule.id}/delete/")[0] == post(f"alarmchannel/{own.id}/delete/")[0] == 302
    assert {one.name for one in Subscription.objects.all()} == {"theirs"} and not Secret.objects.exists()


def test_a_role_has_the_secrets_of_its_tenant_over_the_api_too(redis):
    asked = browser(Role.OPERATOR)
    made = asked.put(f"{ROOT}/secrets/callbacks", {}, content_type="application/json")
    assert made.status_code == 200 and made.json()["made"].startswith("whsec_")
    looks = browser(Role.VIEWER)
    assert [one["name"] for one in looks.get(f"{ROOT}/secrets").json()["items"]] == ["callbacks"]
    assert looks.delete(f"{ROOT}/secrets/callbacks").status_code == 403


def test_a_page_that_a_role_does_not_open_says_which_one_does():
    client = browser(Role.VIEWER)

    def told(path: str, who=client) -> str:
        answer = who.get(f"/admin/punctual/{path}")
        assert answer.status_code == 403
        return answer.content.decode()

    assert "one of these roles: operator, administrator. Yours is viewer." in told("alarmrule/add/")
    assert "for those who run the installation; you work in tenant acme" in told("taskbatch/")
    admin = browser(Role.ADMIN)
    suspend("acme", operator("the invoice is open"))
    assert "Tenant acme is suspended: you may look" in told("alarmrule/add/", admin)


def test_a_member_of_a_suspended_tenant_only_looks(redis):
    client = browser(Role.ADMIN)
    suspend("acme", operator("the invoice is open"))

    assert client.get("/admin/punctual/scheduletask/").status_code == 200
    assert client.get("/admin/punctual/jobdefinition/add/").status_code == 403
    answer = client.post(f"{ROOT}/jobs", JOB, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "SCH_403_TENANT_SUSPENDED")


def test_a_member_hears_what_a_handler_said_and_not_where_it_runs(redis):
    from django_punctual.testing import run_due

    task = schedule("T_QUIET", "a", tenant="acme", payload={"do": "crash", "message": "no file"}, max_retry=0).task_id
    run_due()
    client = browser(Role.OPERATOR)

    page = client.get(f"/admin/punctual/scheduletask/{task}/change/").content.decode()
    table = b"".join(client.get("/admin/punctual/scheduletask/export/")).decode()
    assert "no file" in page and "no file" in table
    assert not re.search(r"Traceback|handlers\.py|line \d+, in", page + table)


def test_every_grant_change_and_revoke_is_in_the_audit_with_before_and_after(redis):
    client = client_of(member(Role.ADMIN))
    get_user_model().objects.create_user("ada", is_staff=True)

    for role in ("viewer", "operator"):
        client.put(f"{ROOT}/members/ada", {"role": role, "reason": "she asked"}, content_type="application/json")
    client.delete(f"{ROOT}/members/ada")

    told = AuditEntry.objects.filter(subject="member ada").order_by("id")
    assert [(one.actor, one.verb, one.detail["before"], one.detail["after"]) for one in told] == [
        ("admin-of-acme", "grant", None, "viewer"),
        ("admin-of-acme", "grant", "viewer", "operator"),
        ("admin-of-acme", "revoke", "operator", None),
    ]
    assert {(one.tenant, one.address) for one in told} == {("acme", "127.0.0.1")}


def test_the_palette_finds_what_is_theirs_and_nothing_else():
    own, other = rows_of("acme"), rows_of("other")
    asked = browser(Role.VIEWER, "acme")

    def found(word: str) -> str:
        return asked.get("/admin/search/", {"s": word, "extended": "1"}).content.decode()

    assert f"/scheduletask/{own.task}/change/" in found("secret") and f"/jobdefinition/{own.job_id}/" in found("secret")
    assert f"/scheduletask/{own.task}/change/" in found(f"#{own.task}")
    assert "secret other" not in found("secret") and "secret other" not in found(f"#{other.task}")
    assert "No results" in found("secret other") and "No results" in found("\0" * 3 + "x" * 5_000)
