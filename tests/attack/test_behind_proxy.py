"""Behind a proxy that speaks TLS: one variable makes cookies, CSRF, redirects and addresses right."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.browser import PASSWORD, person
from tests.support.front import ADDRESS, HOST, Front, Surfer
from tests.support.stack import ROOT, new_stack

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def web(django_db_setup, django_db_blocker):
    web = new_stack()
    with django_db_blocker.unblock():
        web.web(PUBLIC_URL=f"https://{HOST}", TRUSTED_PROXIES=ADDRESS)
    yield web
    web.stop()
    shutil.rmtree(web.folder, ignore_errors=True)


@pytest.fixture
def front(web):
    front = Front(web.url)
    yield front
    front.close()


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


def test_the_deployment_check_has_nothing_to_say_of_tls(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name not in ("DJANGO_SETTINGS_MODULE", "SECRET_KEY")}
    ended = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy"],
        cwd=ROOT,
        env=kept | {"PUNCTUAL_HOME": str(tmp_path / "home"), "PUBLIC_URL": f"https://{HOST}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    # Subdomains and the browsers' own list are the domain owner's to decide, not ours.
    assert "security.W" not in ended.stderr.replace("security.W005", "").replace("security.W021", ""), ended.stderr
