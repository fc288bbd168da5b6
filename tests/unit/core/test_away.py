"""Leases of what is away, and signatures of the addresses at which it is reported."""

from datetime import timedelta
from uuid import UUID

import pytest

from django_punctual.testing import fake_task
from tasks_app.core.away import Away, Run
from tasks_app.core.errors import InvalidTask
from tasks_app.core.keyring import Keyring, derived_key, local_key, new_key

RUN = Run("acme", UUID(int=1), 4711, UUID(int=2))


@pytest.mark.parametrize("lease", [timedelta(hours=2), 7200, 7200.0], ids=["timedelta", "int", "float"])
def test_a_lease_is_a_length_of_time(lease):
    assert Away(lease).lease == 7200.0
    assert fake_task().away(lease=lease).lease == 7200.0


@pytest.mark.parametrize(
    "lease", [0, -1, timedelta(0), timedelta(days=31), float("nan"), float("inf"), True, "1h", None]
)
def test_another_lease_is_refused_with_the_rule(lease):
    with pytest.raises(InvalidTask, match=r"lease=.* must be a timedelta, or seconds, .* at most 30 days"):
        Away(lease)


def test_a_task_that_has_deferred_effects_cant_be_away():
    task = fake_task("T_QUIET")
    task.deferred = ("an effect",)

    with pytest.raises(InvalidTask, match="has deferred 1 of its effects"):
        task.away(lease=60)


def test_a_task_without_a_worker_has_addresses_for_tests():
    task = fake_task()

    assert task.addresses.complete == f"https://punctual.invalid/tasks/{task.token}/complete"
    assert task.addresses.fail.endswith("/fail") and task.addresses.progress.endswith("/progress")


@pytest.mark.parametrize(
    "other",
    [
        RUN._replace(tenant="acme2"),
        RUN._replace(token=UUID(int=3)),
        RUN._replace(task=4712),
        RUN._replace(run=UUID(int=3)),
    ],
    ids=["tenant", "token", "task", "run"],
)
def test_a_signature_holds_for_one_run_of_one_task_of_one_tenant(other):
    ring = Keyring([derived_key("secret")])
    signature = ring.sign(RUN.signed_text(), "reports")

    assert ring.has_signed(signature, RUN.signed_text(), "reports")
    assert not ring.has_signed(signature, other.signed_text(), "reports")
    assert not ring.has_signed(signature, RUN.signed_text(), "another purpose")


def test_a_signature_holds_as_long_as_its_key_is_in_the_ring():
    old, new = local_key(new_key()), local_key(new_key())
    signature = Keyring([old]).sign(RUN.signed_text(), "reports")

    assert Keyring([new, old]).has_signed(signature, RUN.signed_text(), "reports")
    assert not Keyring([new]).has_signed(signature, RUN.signed_text(), "reports")


def test_the_first_key_that_is_here_signs():
    class Kept:
        """By a service: it wraps, and never shows itself."""

        id = "kms"

    ring = Keyring([Kept(), first := local_key(new_key()), local_key(new_key())])

    assert ring.sign(b"text", "reports").startswith(f"{first.id}.")
    assert not ring.has_signed("kms.whatever", b"text", "reports")


@pytest.mark.parametrize("signature", ["", ".", "x", "unknown.abc", "é.é", "a" * 1000])
def test_what_is_no_signature_is_none(signature):
    assert not Keyring([derived_key("secret")]).has_signed(signature, b"text", "reports")
