"""Keys and secrets of an installation: where keys come from, and how secrets come under a new one."""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core import checks
from django.core.management import CommandError, call_command

import tasks_app
from django_punctual import Operator, ToWebhook, subscribe
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.keyring import CannotUnseal, LocalKey, key_id_of, local_key, new_key
from tasks_app.engine.operations import secrets
from tasks_app.lifecycle.alarms.channels import ChannelRequest, create_channel, unsealed
from tasks_app.lifecycle.named_secrets import opened
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.lifecycle.signing_secrets import signing_secrets
from tasks_app.models import AlarmChannel, Secret, Subscription, TenantKey
from tasks_app.sealing import keyring, seal, unseal
from tests.support.tls import CERTIFICATE

pytestmark = pytest.mark.django_db
ME = Operator("olga", "a test")
OLD, NEW = new_key(), new_key()


def use(settings, *keys: object, **others: object) -> None:
    settings.PUNCTUAL = settings.PUNCTUAL | {"SECRET_KEYS": keys} | others


def webhook(name: str = "test") -> Subscription:
    return subscribe(name, events=["*"], to=ToWebhook("https://hooks.example.com/"))


def said(*arguments: str) -> str:
    out = StringIO()
    call_command("secrets", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_without_a_key_one_is_made_from_djangos_and_older_ones_of_django_still_open(settings):
    sealed = seal("x", "row 1")

    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", [settings.SECRET_KEY]
    assert unseal(sealed, "row 1") == "x"
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(CannotUnseal, match="SECRET_KEY_FALLBACKS"):
        unseal(sealed, "row 1")


def test_what_was_sealed_before_a_key_was_named_still_opens(settings):
    sealed = seal("x", "row 1")
    use(settings, NEW)

    assert unseal(sealed, "row 1") == "x"
    assert key_id_of(seal("x", "row 1")) == local_key(NEW).id


def test_keys_may_be_in_a_file(settings, tmp_path):
    place = tmp_path / "keys"
    place.write_text(f"# of 2026\n{NEW}\n\n{OLD}\n")
    use(settings, SECRET_KEYS_FILE=str(place))

    assert keyring().first_id == local_key(NEW).id
    assert local_key(OLD).id in keyring()


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "can't be read"), ("", "has no key in it"), ("nonsense\n", "entry 1 is not a key"), ("\xff", "entry 1")],
)
def test_a_file_without_keys_is_told_by_a_check_and_nothing_is_sealed(settings, tmp_path, text, words):
    place = tmp_path / "keys"
    if text is not None:
        place.write_text(text)
    use(settings, SECRET_KEYS_FILE=str(place))

    [found] = [m.msg for m in checks.run_checks() if m.id == "punctual.E007"]
    assert words in found and str(place) in found and "nonsense" not in found
    with pytest.raises(InvalidConfiguration):
        seal("x", "row 1")


def test_a_rotation_seals_everything_with_the_first_key_and_the_old_one_can_go(settings):
    use(settings, OLD)
    made = [webhook(name) for name in ("a", "b")]
    use(settings, NEW, OLD)
    webhook("c")

    before = secrets.keys_in_use()
    told = said("rotate")

    assert before == {local_key(OLD).id: 2, local_key(NEW).id: 1}
    assert told == f"2 secrets are now sealed with the key {local_key(NEW).id}.\n"
    assert secrets.keys_in_use() == {local_key(NEW).id: 3}
    use(settings, NEW)
    for one in made:
        row = Subscription.objects.get(id=one.id)
        assert signing_secrets(row) == [one.new_secret]
    assert secrets.rotate() == (0, [])


class Meddling(LocalKey):
    """A key during whose use somebody gives the subscription another secret."""

    def unwrap(self, wrapped: bytes, bound_to: bytes) -> bytes:
        Subscription.objects.update(secrets=["another"])
        return super().unwrap(wrapped, bound_to)


def test_a_rotation_does_not_write_over_a_secret_that_was_changed_meanwhile(settings):
    old = Meddling(b"m" * 32)
    use(settings, old)
    webhook()
    use(settings, NEW, old)

    assert secrets.rotate() == (0, [])
    assert Subscription.objects.get().secrets == ["another"]


def test_a_secret_whose_key_is_gone_stays_as_it_is_and_is_told(settings):
    use(settings, OLD)
    webhook()
    sealed = Subscription.objects.get().secrets
    use(settings, NEW)

    with pytest.raises(CommandError, match="1 secrets could not be opened, and stay as they are"):
        said("rotate")
    assert Subscription.objects.get().secrets == sealed
    assert said("status").splitlines() == [
        f"{local_key(NEW).id}       0 secrets  the key that seals, named in PUNCTUAL",
        f"{local_key(OLD).id}       1 secrets  a key that is missing here: they can't be opened",
    ]


def test_what_alarm_channels_need_is_rotated_too(settings):
    use(settings, OLD)
    channel = create_channel(ChannelRequest("chat", "webhook", "https://hooks.example.com/x"), ME, None).channel
    use(settings, NEW, OLD)

    assert secrets.rotate() == (1, [])
    use(settings, NEW)
    assert unsealed(AlarmChannel.objects.get().target, channel.id).url == "https://hooks.example.com/x"


def test_every_column_that_is_sealed_is_found_by_a_rotation():
    """Whatever else seals has to be added there."""
    folder = Path(tasks_app.__file__).parent
    sealing = {path.stem for path in folder.rglob("*.py") if re.search(r"\bseal\(", path.read_text())}

    assert sealing == {"keyring", "sealing", "signing_secrets", "channels", "named_secrets", "data_keys"}
    assert [place.model for place in secrets.PLACES] == [Subscription, AlarmChannel, Secret, TenantKey]


def test_a_new_key_can_be_used_as_it_is_printed(settings):
    key = said("key").splitlines()[0]
    use(settings, key)

    assert key_id_of(seal("x", "row 1")) == local_key(key).id


def test_outside_of_debug_a_missing_key_is_told_before_a_deploy(settings):
    def found() -> list[str]:
        return [m.id for m in checks.run_checks(include_deployment_checks=True) if m.id == "punctual.W006"]

    assert found() == ["punctual.W006"]
    settings.DEBUG = True
    assert found() == []
    settings.DEBUG = False
    use(settings, NEW)
    assert found() == []


@pytest.mark.parametrize("keys", [["secret-that-is-no-key"], "secret-that-is-no-key", [OLD, "secret-that-is-no-key"]])
def test_a_key_that_is_none_is_refused_without_being_shown(settings, keys):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SECRET_KEYS": keys}

    [found] = [m.msg for m in checks.run_checks() if m.id == "punctual.E001"]
    assert 'PUNCTUAL["SECRET_KEYS"]' in found and "secret-that" not in found


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"OUTGOING_CA_FILE": "/nowhere"}, ["punctual.E008"]),
        ({"OUTGOING_CA_FILE": __file__}, ["punctual.E008"]),
        ({"OUTGOING_CA_FILE": str(CERTIFICATE)}, []),
        ({"OUTGOING_ALLOW": ["0.0.0.0/0"]}, ["punctual.W005"]),
        ({"OUTGOING_ALLOW": ["public", "10.0.0.0/8"]}, []),
        ({"OUTGOING_ALLOW": ["https://x"]}, ["punctual.E001"]),
    ],
)
def test_settings_of_the_way_out_are_checked(settings, values, found):
    settings.PUNCTUAL = settings.PUNCTUAL | values

    assert [m.id for m in checks.run_checks() if m.id.startswith("punctual.")] == found


def test_secrets_of_callbacks_are_set_listed_and_come_under_the_new_key_with_the_others(settings, monkeypatch):
    use(settings, OLD)
    monkeypatch.setattr("sys.stdin", StringIO("sk_live_0123456789\n"))
    assert said("set", "billing", "--tenant", "acme", "--host", "api.example.com") == (
        "Secret 'billing' of tenant 'acme' is set.\n"
    )
    made = said("make", "callbacks").splitlines()[0]
    use(settings, NEW, OLD)

    assert said("rotate").startswith("2 secrets are now sealed with the key")
    use(settings, NEW)

    found = opened([("acme", "billing"), ("default", "callbacks"), ("default", "billing")])
    assert {key: one.values for key, one in found.items()} == {
        ("acme", "billing"): ("sk_live_0123456789",),
        ("default", "callbacks"): (made,),
    }
    listed = said("list")
    assert "billing" in listed and "to api.example.com" in listed
    assert "sk_live" not in listed + repr(found) and made not in listed + repr(found)


def test_secrets_of_callbacks_are_withdrawn_and_deleted_by_command():
    said("make", "callbacks")
    said("make", "callbacks", "--keep-old")

    assert said("withdraw", "callbacks") == "1 old value of 'callbacks' withdrawn.\n"
    assert "is deleted" in said("delete", "callbacks")
    with pytest.raises(CommandError, match="has no secret 'callbacks'"):
        said("delete", "callbacks")


def test_a_secret_copied_to_another_row_can_not_be_opened():
    set_secret("one", ME, tenant="acme", value="sk_live_0123456789")
    set_secret("two", ME, tenant="default", value="sk_live_another_one")
    Secret.objects.filter(name="two").update(values=Secret.objects.get(name="one").values)

    assert opened([("default", "two")])["default", "two"].values == ()
