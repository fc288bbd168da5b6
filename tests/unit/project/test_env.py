"""What the environment says about the servers, and what is said when it says nonsense."""

from ipaddress import ip_network

import pytest
from django.http import HttpResponse

from scheduler_project.env import EnvironmentProblem, database_settings, log_format, networks, public_url, whole_number
from scheduler_project.proxy import client_of, proxy_middleware

URL = "postgresql://me:secret@db:5433/punctual"


@pytest.mark.parametrize(("text", "threshold"), [("none", None), ("0", 0), ("5", 5)])
def test_a_database_url_can_say_when_statements_are_prepared(text, threshold):
    assert database_settings(f"{URL}?prepare_threshold={text}")["OPTIONS"] == {"prepare_threshold": threshold}


@pytest.mark.parametrize("text", ["never", "-1", "1.5"])
def test_a_prepare_threshold_that_is_no_number_is_refused(text):
    with pytest.raises(EnvironmentProblem, match=f"prepare_threshold='{text}'; it must be a number, or none"):
        database_settings(f"{URL}?prepare_threshold={text}")


def test_other_keys_of_a_database_url_go_to_libpq_as_they_are():
    found = database_settings(f"{URL}?sslmode=require")

    assert (found["OPTIONS"], found["HOST"], found["PORT"], found["NAME"]) == (
        {"sslmode": "require"},
        "db",
        "5433",
        "punctual",
    )


@pytest.mark.parametrize(
    ("servers", "hosts", "ports"),
    [
        ("db", "db", ""),
        ("[::1]:5433", "::1", "5433"),
        ("one,two", "one,two", ""),
        ("one:5433,two:5434", "one,two", "5433,5434"),
        ("one:5433,two", "one,two", "5433,5432"),
        ("[::1]:5433,10.0.0.2:5434", "::1,10.0.0.2", "5433,5434"),
    ],
)
def test_a_database_url_names_one_server_or_several(servers, hosts, ports):
    found = database_settings(f"postgresql://me:se%40cret@{servers}/punctual?target_session_attrs=read-write")

    assert (found["HOST"], found["PORT"], found["USER"], found["PASSWORD"]) == (hosts, ports, "me", "se@cret")
    assert found["OPTIONS"] == {"target_session_attrs": "read-write"}


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("one:port,two/punctual", "a port that is not a number between 1 and 65535"),
        ("one:0/punctual", "a port that is not a number between 1 and 65535"),
        ("one,,two/punctual", "one of them is empty; put single commas between them"),
        ("one:1:2,two/punctual", "a server 'one:1:2'|a port that is not a number"),
        ("/punctual?host=one,two,three&port=1,2", "2 ports for 3 servers; give one for all, or one for each"),
        ("one/punctual?target_session_attrs=standby", "it must be read-write or primary"),
        ("one,two/punctual?target_session_attrs=any", "target_session_attrs='any'; Punctual writes to its database"),
    ],
)
def test_servers_that_can_not_be_meant_are_refused(rest, words):
    with pytest.raises(EnvironmentProblem, match=words):
        database_settings(f"postgresql://me@{rest}")


def test_logs_are_text_or_json_and_nothing_else(monkeypatch):
    monkeypatch.delenv("LOG_FORMAT", raising=False)
    assert log_format() == "text"
    monkeypatch.setenv("LOG_FORMAT", "json")
    assert log_format() == "json"
    monkeypatch.setenv("LOG_FORMAT", "jsno")
    with pytest.raises(EnvironmentProblem, match="LOG_FORMAT is 'jsno'; it must be text or json"):
        log_format()


@pytest.mark.parametrize("text", ["1.5", "many", "inf", ""])
def test_a_part_of_a_thing_is_refused_and_not_rounded(text):
    assert whole_number("STOCK_BURST", "50") == 50
    with pytest.raises(EnvironmentProblem, match=r"STOCK_BURST is .* it must be a whole number"):
        whole_number("STOCK_BURST", text)


@pytest.mark.parametrize(
    "text",
    [
        "punctual.example.com",
        "ftp://punctual.example.com",
        "https://",
        "https://x/admin/",
        "https://x?y",
        "https://me@x",
        "https://x:port",
        "https://[x",
    ],
)
def test_a_public_url_that_is_no_address_of_a_site_is_refused(monkeypatch, text):
    monkeypatch.setenv("PUBLIC_URL", text)
    with pytest.raises(EnvironmentProblem, match=r"PUBLIC_URL is .* without a path, such as https://"):
        public_url()


@pytest.mark.parametrize("text", ["proxy", "10.0.0.0/33", "10.0.0.1/8"])
def test_a_proxy_that_is_no_address_is_refused(monkeypatch, text):
    monkeypatch.setenv("TRUSTED_PROXIES", f"127.0.0.1, {text}")
    with pytest.raises(EnvironmentProblem, match=f"TRUSTED_PROXIES has '{text}'"):
        networks("TRUSTED_PROXIES", "")


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ("", "10.0.0.1"),
        ("192.0.2.7", "192.0.2.7"),
        ("198.51.100.1, 192.0.2.7", "192.0.2.7"),  # what stands to the left, the client wrote itself
        ("192.0.2.7, 10.0.0.2", "192.0.2.7"),
        ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("192.0.2.7, <script>", "10.0.0.1"),
        ("2001:DB8::1", "2001:db8::1"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("192.0.2.7, ::ffff:10.0.0.2", "192.0.2.7"),
    ],
)
def test_the_client_is_the_last_one_that_is_no_proxy_of_ours(forwarded, client):
    assert client_of(forwarded, "10.0.0.1", [ip_network("10.0.0.0/8")]) == client


@pytest.mark.parametrize(
    ("peer", "client"), [("::ffff:10.0.0.1", "192.0.2.7"), ("10.0.0.1", "192.0.2.7"), ("::ffff:192.0.2.9", "192.0.2.9")]
)
def test_a_proxy_is_trusted_on_a_listener_for_both_versions(settings, rf, peer, client):
    """It has a mapped address of version 6 there. Not to trust it makes all its clients one."""
    settings.TRUSTED_PROXIES, settings.ONLY_TRUSTED_PROXIES = ["10.0.0.0/8"], False
    asked = rf.get("/", REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR="192.0.2.7")

    proxy_middleware(lambda request: HttpResponse())(asked)

    assert asked.META["REMOTE_ADDR"] == client
