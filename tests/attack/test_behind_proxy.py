"""Behind a proxy that speaks TLS: one variable makes cookies, CSRF, redirects and addresses right, so that whoever
guesses passwords is told from others."""

import os

import pytest

from tasks_app.engine.web import throttle
from tasks_app.engine.web.throttle import LOGIN_ADDRESS, LOGIN_PAIR
from tasks_app.models import AuditEntry
from tests.support import nursery
from tests.support.browser import PASSWORD, person
from tests.support.front import ADDRESS, HOST, Front, Surfer
from tests.support.stack import serving
from tests.support.throttled import let_waits_pass

pytestmark = pytest.mark.django_db(transaction=True)

HERE, ELSEWHERE = "127.0.0.9", "127.0.0.10"


@pytest.fixture(scope="module")
def web(django_db_setup):
    with serving(PUBLIC_URL=f"https://{HOST}", TRUSTED_PROXIES=ADDRESS) as web:
        yield web


@pytest.fixture
def front(web):
    front = Front(web.url)
    yield front
    front.close()


# Addresses, cookies and redirects.


def test_a_person_logs_in_through_a_proxy_at_another_address(front, web):
    person("ann", superuser=True)
    surfer = Surfer(front.port)

    answer = surfer.log_in("ann", PASSWORD)

    assert (answer.status, answer.headers["Location"]) == (302, "/admin/"), answer.text
    assert surfer.get("/admin/").status == 200
    assert all(surfer.cookies[name]["secure"] for name in ("sessionid", "csrftoken"))
    assert int(answer.headers["Strict-Transport-Security"].removeprefix("max-age=")) > 0


def test_a_form_of_another_site_is_refused(front):
    person("ann", superuser=True)
    surfer = Surfer(front.port)
    surfer.headers["Origin"] = "https://evil.example.com"
    page = surfer.get("/admin/login/").text
    token = page.partition('name="csrfmiddlewaretoken" value="')[2][:64]

    answer = surfer._call(
        "POST",
        "/admin/login/",
        f"username=ann&password={PASSWORD}&csrfmiddlewaretoken={token}",
        {"Content-Type": "application/x-www-form-urlencoded"},
    )

    assert answer.status == 403


def test_what_came_without_tls_is_sent_to_the_public_address_but_for_the_probe(web):
    plain = Front(web.url, scheme="http")
    try:
        answer = Surfer(plain.port).get("/admin/login/?next=/admin/")
        probe = Surfer(plain.port).get("/api/v1/live")
    finally:
        plain.close()

    assert (answer.status, answer.headers["Location"]) == (301, f"https://{HOST}/admin/login/?next=/admin/")
    assert probe.status == 200


def test_whoever_is_no_proxy_of_ours_can_not_say_that_it_speaks_tls(web):
    port = int(web.url.rpartition(":")[2])

    answer = Surfer(port, "127.0.0.3", X_Forwarded_Proto="https").get("/admin/login/")

    assert answer.status == 301


def test_another_name_of_the_site_is_refused(front):
    assert Surfer(front.port, Host="evil.example.com").get("/admin/login/").status == 400


# Guessing passwords gets slow for whoever guesses, and for nobody else; and it is recorded.


def test_guessing_one_persons_password_gets_slow_here_and_not_for_that_person_elsewhere(front):
    person("ann", superuser=True)
    guesser = Surfer(front.port, HERE)
    for _ in range(LOGIN_PAIR.free):
        assert guesser.log_in("ann", "wrong").status == 200

    refused = guesser.log_in("ann", PASSWORD)

    assert refused.status == 429
    assert 0 < int(refused.headers["Retry-After"]) <= LOGIN_PAIR.longest
    assert "Too many failed logins" in refused.text
    assert guesser.get("/admin/").status == 302
    assert Surfer(front.port, ELSEWHERE).log_in("ann", PASSWORD).status == 302
    # Who pretends to be elsewhere is where the proxy says.
    assert Surfer(front.port, HERE, X_Forwarded_For=ELSEWHERE).log_in("ann", PASSWORD).status == 429


def test_somebody_else_at_the_same_address_can_log_in(front):
    person("ann", superuser=True)
    person("bea", superuser=True)
    for _ in range(LOGIN_PAIR.free):
        throttle.login_attempt("ann", HERE)

    assert Surfer(front.port, HERE).log_in("ann", PASSWORD).status == 429
    assert Surfer(front.port, HERE).log_in("bea", PASSWORD).status == 302


def test_trying_many_names_from_one_address_gets_slow_for_at_most_a_minute(front):
    person("ann", superuser=True)
    for number in range(LOGIN_ADDRESS.free + 20):
        throttle.login_attempt(f"user{number}", HERE)
        let_waits_pass()
    throttle.login_attempt("one more", HERE)

    refused = Surfer(front.port, HERE).log_in("ann", PASSWORD)

    assert refused.status == 429 and int(refused.headers["Retry-After"]) <= 60
    assert Surfer(front.port, ELSEWHERE).log_in("ann", PASSWORD).status == 302


def trail(**wanted: str) -> list[tuple[str, str, str, str]]:
    found = AuditEntry.objects.filter(**wanted).order_by("id")
    return [(one.actor, one.verb, one.subject, one.outcome) for one in found]


def test_logins_failures_and_logouts_are_in_the_audit_trail(front):
    person("ann", superuser=True)
    surfer = Surfer(front.port, HERE)
    surfer.log_in("ann", "wrong")
    surfer.log_in("my secret, typed into the wrong field", "wrong")
    surfer.log_in("ann", PASSWORD)
    token = surfer.cookies["csrftoken"].value
    surfer.post("/admin/logout/", csrfmiddlewaretoken=token)

    assert trail(verb__in=("login", "logout")) == [
        ("nobody", "login", "user ann", "failed"),
        ("nobody", "login", "an unknown user", "failed"),
        ("ann", "login", "user ann", "logged in"),
        ("ann", "logout", "user ann", "logged out"),
    ]
    reasons = AuditEntry.objects.filter(verb__in=("login", "logout")).values_list("reason", flat=True)
    assert all(HERE in reason for reason in reasons), reasons


# The settings.


def test_the_deployment_check_has_nothing_to_say_of_tls(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name not in ("DJANGO_SETTINGS_MODULE", "SECRET_KEY")}
    env = kept | {"PUNCTUAL_HOME": str(tmp_path / "home"), "PUBLIC_URL": f"https://{HOST}"}
    ended = nursery.run("manage", "check", "--deploy", "--tag", "security", env=env)
    # Subdomains and the browsers' own list are the domain owner's to decide, not ours.
    assert "security.W" not in ended.stderr.replace("security.W005", "").replace("security.W021", ""), ended.stderr
