"""Members by command and by single sign-on, tokens from before rights had names, whose units are kept how long, and the
last administrator of the platform."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db.models.functions import Now

from django_punctual import cancel, schedule
from django_punctual.members import Role, rights_of, roles_of_groups, set_memberships
from tasks_app.core.errors import InvalidTask
from tasks_app.core.roles import ALL_RIGHTS, READING, WRITING, Right
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.operations.api_tokens import issue, known
from tasks_app.engine.operations.members import grant
from tasks_app.models import ApiToken, Membership, OutboxEvent, OwnedUnit, ScheduleTask
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.marks import commits
from tests.support.operators import operator

pytestmark = pytest.mark.django_db
USER = "/admin/auth/user/"


def member(*words: str) -> str:
    out = StringIO()
    call_command("member", *words, stdout=out, stderr=out)
    return out.getvalue()


def test_members_by_command():
    person("ada", staff=False)

    assert "ada is viewer in tenant 'acme'." in (said := member("grant", "ada", "--tenant", "acme", "--role", "viewer"))
    assert "set is_staff" in said
    given = ("--tenant", "acme", "--role", "operator", "--by", "olga", "--reason", "on call", "--json")
    assert json.loads(member("grant", "ada", *given))["before"] == "viewer"
    assert "already" in member("grant", "ada", "--tenant", "acme", "--role", "operator")
    [told] = json.loads(member("list", "--json"))
    assert (told["tenant"], told["user"], told["role"], told["granted_by"]) == ("acme", "ada", "operator", "olga")
    assert "operator  ada" in member("list", "--tenant", "acme") and "no members" in member("list", "--tenant", "b")
    member("revoke", "ada", "--tenant", "acme")

    assert Membership.objects.count() == 0
    assert [entry.detail for entry in deeds().filter(subject="member ada").order_by("id")] == [
        {"before": None, "after": "viewer"},
        {"before": "viewer", "after": "operator"},
        {"before": "operator", "after": None},
    ]
    events = OutboxEvent.objects.filter(event__startswith="member.").order_by("id")
    assert [one.event for one in events] == ["member.granted", "member.granted", "member.revoked"]
    for words, refused in (
        (("grant", "ada", "--tenant", "acme", "--role", "boss"), "no role 'boss'.*viewer, author"),
        (("grant", "nobody", "--tenant", "acme", "--role", "viewer"), "no active user 'nobody'"),
        (("grant", "ada", "--tenant", "internal", "--role", "viewer"), "no members"),
        (("grant", "ada", "--tenant", "", "--role", "viewer"), "tenant"),
        (("revoke", "ada", "--tenant", "acme"), "no member 'ada'"),
    ):
        with pytest.raises(CommandError, match=refused):
            member(*words)


def test_what_a_person_may_do_follows_from_permissions_and_roles():
    ada = person("ada")
    grant("acme", "ada", "author", operator())
    views, operates = ("view_jobdefinition", "view_scheduletask"), ("operate_jobdefinition", "operate_scheduletask")
    administers = ("operate_membership", "operate_apitoken")

    def everywhere(name: str, *codenames: str) -> frozenset:
        return rights_of(person(name, *(f"punctual.{one}" for one in codenames))).everywhere

    assert (rights_of(ada).everywhere, rights_of(ada).roles) == (frozenset(), {"acme": Role.AUTHOR})
    assert rights_of(ada).within("acme") == {Right.READ, Right.SCHEDULE} and not rights_of(ada).within("other")
    assert rights_of(ada).tenants == {"acme"}
    assert everywhere("a", *views) == READING and everywhere("b", *views, *operates) == WRITING
    assert everywhere("c", views[0], *operates) == everywhere("d", *administers) == frozenset()
    assert everywhere("e", *views, *operates, *administers) == ALL_RIGHTS
    boss = rights_of(person("boss", superuser=True))
    assert boss.tenants is None and boss.within("any") == ALL_RIGHTS
    ada.is_staff = False
    assert rights_of(ada).tenants == frozenset()


def test_a_directory_gives_roles_and_takes_away_only_what_it_gave():
    ada = person("ada")
    grant("byhand", "ada", "admin", operator())
    meaning = {"ops": ("acme", "operator"), "look": ("acme", "viewer"), "leads": ("beta", "admin")}

    assert roles_of_groups(["look", "ops", "else", 7], meaning) == {"acme": Role.OPERATOR}
    assert roles_of_groups("ops", meaning) == roles_of_groups(None, meaning) == {}
    set_memberships(ada, roles_of_groups(["ops", "leads"], meaning), source="oidc")
    assert rights_of(ada).roles == {"byhand": Role.ADMIN, "acme": Role.OPERATOR, "beta": Role.ADMIN}
    set_memberships(ada, {"acme": "viewer", "byhand": "viewer"}, source="oidc")
    assert rights_of(ada).roles == {"byhand": Role.ADMIN, "acme": Role.VIEWER}
    before = deeds().count()
    set_memberships(ada, {"acme": "viewer"}, source="oidc")
    assert deeds().count() == before  # each login would be an entry otherwise
    set_memberships(ada, {}, source="oidc")
    assert rights_of(ada).roles == {"byhand": Role.ADMIN}
    with pytest.raises(InvalidTask, match="source is empty"):
        set_memberships(ada, {}, source="")


def test_tokens_from_before_rights_had_names_may_what_they_could():
    texts = {can_write: issue("old", "acme", operator(), can_write=can_write)[1] for can_write in (False, True)}
    ApiToken.objects.update(right=None)

    assert known(texts[False]).rights == READING and known(texts[True]).rights == WRITING
    scheduling, _ = issue("new", "acme", operator(), rights=["schedule"])
    assert not scheduling.can_write  # a web process of before lets it read, and no more


def test_a_token_is_changed_by_command():
    token, text = issue("ci", "acme", operator(), rights=["operate"], types=["T_QUIET"])
    out = StringIO()

    call_command("api_token", "change", str(token.id), "--right", "schedule", "--all-types", stdout=out)
    assert "may schedule now" in out.getvalue()
    assert (known(text).owns_only, known(text).types) == (True, None)
    entry = deeds().latest("id")
    assert (entry.detail["before"]["may"], entry.detail["after"]["may"]) == ("operate", "schedule")
    with pytest.raises(CommandError, match="nothing was given"):
        call_command("api_token", "change", str(token.id))
    with pytest.raises(CommandError, match="no token 987654321"):
        call_command("api_token", "change", "987654321", "--right", "read")


def test_whose_a_unit_was_is_forgotten_once_it_has_no_task_beside_the_past():
    for key in ("live", "over"):
        schedule("T_QUIET", key, tenant="acme", delay=3600)
        OwnedUnit.objects.create(tenant="acme", task_type="T_QUIET", biz_key=key, owner="ada")
    OwnedUnit.objects.update(at=Now() - timedelta(days=2))
    OwnedUnit.objects.create(tenant="acme", task_type="T_QUIET", biz_key="new", owner="ada")
    cancel("T_QUIET", "over", tenant="acme", reason="x")
    ScheduleTask.objects.filter(biz_key="over").delete()

    assert prune().owners == 1
    assert set(OwnedUnit.objects.values_list("biz_key", flat=True)) == {"live", "new"}
    assert prune().owners == 0


@commits
@pytest.mark.parametrize("how", ["demoted", "inactive", "no staff", "deleted", "deleted from the list"])
def test_the_last_administrator_of_the_platform_stays(how):
    boss = person("boss", superuser=True)
    client = client_of(boss)
    form = {"username": "boss", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    flags = {"is_active": "on", "is_staff": "on", "is_superuser": "on"}
    left_out = {"demoted": "is_superuser", "inactive": "is_active", "no staff": "is_staff"}.get(how)

    def attempt():
        if left_out:
            kept = {name: value for name, value in flags.items() if name != left_out}
            return client.post(f"{USER}{boss.id}/change/", form | kept)
        if how == "deleted":
            return client.post(f"{USER}{boss.id}/delete/", {"post": "yes"})
        return client.post(USER, {"action": "delete_selected", "_selected_action": boss.id, "post": "yes"})

    answer = attempt()
    assert answer.status_code == 400 and "Nobody would be left" in answer.content.decode()
    boss.refresh_from_db()
    assert boss.is_superuser and boss.is_active and boss.is_staff
    person("second", superuser=True)
    assert attempt().status_code == 302
    assert get_user_model().objects.filter(is_superuser=True, is_active=True, is_staff=True).count() == 1
