"""Rights that are taken away while somebody uses them to grant some."""

import pytest
from django.db import transaction

from tasks_app.core.errors import NotAllowed, NotThere
from tasks_app.core.roles import Role
from tasks_app.engine.operations.api_tokens import change, issue, known
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.operations.members import grant, revoke
from tasks_app.models import Membership
from tests.support.browser import person
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.overlap import overlap_results

pytestmark = commits


def admin(name: str) -> Caller:
    user = person(name)
    grant("acme", name, Role.ADMIN, operator())
    return Caller(name, "acme", Role.ADMIN.rights, is_person=True, user_key=str(user.pk))


def roles() -> dict[str, str]:
    return dict(Membership.objects.order_by("username").values_list("username", "role"))


@pytest.mark.parametrize("commit", [True, False])
def test_whoever_was_revoked_meanwhile_grants_nothing(commit):
    ada = admin("ada")
    person("bob")

    one, two = overlap_results(
        lambda: revoke("acme", "ada", operator()),
        lambda: grant("acme", "bob", Role.ADMIN, operator(), granter=ada),
        commit=commit,
    )

    assert one.error is None and two.waited
    assert isinstance(two.error, NotAllowed) if commit else two.error is None
    assert roles() == ({} if commit else {"ada": "admin", "bob": "admin"})


def test_two_who_revoke_each_other_take_turns():
    ada, bob = admin("ada"), admin("bob")

    one, two = overlap_results(
        lambda: revoke("acme", "bob", operator(), granter=ada),
        lambda: revoke("acme", "ada", operator(), granter=bob),
    )

    assert one.error is None and isinstance(two.error, NotAllowed)
    assert roles() == {"ada": "admin"}


@pytest.mark.parametrize("commit", [True, False])
def test_a_grant_beside_another_has_one_row_and_the_later_role(commit):
    person("bob")
    one, two = overlap_results(
        lambda: grant("acme", "bob", Role.VIEWER, operator()),
        lambda: grant("acme", "bob", Role.OPERATOR, operator()),
        commit=commit,
    )

    assert one.error is None and two.error is None
    assert two.value.before == (Role.VIEWER if commit else None)
    assert roles() == {"bob": "operator"}


def test_a_grant_beside_a_revoke_says_what_came_of_it():
    person("bob")
    grant("acme", "bob", Role.VIEWER, operator())
    one, two = overlap_results(
        lambda: revoke("acme", "bob", operator()),
        lambda: grant("acme", "bob", Role.OPERATOR, operator()),
    )

    assert one.error is None and two.error is None and two.value.before is None
    assert roles() == {"bob": "operator"}
    with transaction.atomic(), pytest.raises(NotThere):
        revoke("acme", "nobody", operator())


def test_a_token_that_two_change_has_what_the_later_one_checked():
    """Each judges what the token would have in the end by what it has when it is its turn."""
    ada = admin("ada")
    token, text = issue("ci", "acme", operator(), rights=["read"])
    one, two = overlap_results(
        lambda: change(token.id, operator(), types=["HTTP_CALLBACK"]),
        lambda: change(token.id, operator(), rights=["operate"], granter=ada),
    )

    assert one.error is None and two.waited and two.error is not None
    assert known(text).types == {"HTTP_CALLBACK"} and not known(text).can_write
