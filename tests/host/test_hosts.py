"""In somebody else's project: its own admin stays as it is, plain or themed, and the console looks the same in both."""

import re
from collections import defaultdict

import httpx
import pytest

from tasks_app.models import AuditEntry, JobDefinition
from tests.support.addresses import AT, NO_PAGE, console_addresses
from tests.support.browser import PASSWORD, Visits
from tests.support.clients import client_of
from tests.support.scale import FULL, some
from tests.support.wait import wait_until

pytestmark = pytest.mark.usefixtures("transactional_db")

THEMES = ("plain", "themed")
COUNTER = "/admin/testapp/counter/"


def visitor(hosts, host: tuple[str, str], user=None) -> httpx.Client:
    cookies = {"sessionid": client_of(user).cookies["sessionid"].value} if user else {}
    return httpx.Client(base_url=hosts.urls[host], cookies=cookies, timeout=30)


@pytest.fixture(params=THEMES, scope="module")
def theme(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def answers(hosts, theme, django_db_blocker) -> dict[str, tuple[str, httpx.Response]]:
    """By address: the name of each page of the console, and what it answers; asked for once for all tests. In the
    second theme `make test` asks for a fifth of them."""
    with django_db_blocker.unblock(), visitor(hosts, (theme, "all"), hosts.rows.boss) as boss:
        pages = console_addresses(hosts.rows)
        asked = pages if theme == THEMES[0] else some(pages, 0, of=5)
        return {where: (name, boss.get(where)) for where, name in asked}


@pytest.fixture
def boss(hosts, theme):
    with visitor(hosts, (theme, "all"), hosts.rows.boss) as client:
        yield client


# The host's own


def unvarying(text: str) -> str:
    """Without what differs from one answer to the next."""
    return re.sub(r'(csrfmiddlewaretoken" value=|csrf-token" content=|nonce=)"[^"]*"', r"\1", text)


def test_the_pages_of_the_host_are_the_same_to_the_byte_after_every_page_of_the_console(hosts, theme, answers):
    one = f"{COUNTER}{hosts.rows.counter}"
    theirs = ["/", "/admin/", COUNTER, f"{COUNTER}?q=orders", f"{COUNTER}add/", f"{one}/change/", f"{one}/history/"]
    theirs += ["/admin/password_change/", "/admin/jsi18n/", "/admin/nothing/"]
    with (
        visitor(hosts, (theme, ""), hosts.rows.boss) as before,
        visitor(hosts, (theme, "all"), hosts.rows.boss) as after,
    ):
        for page in theirs:
            was, is_ = before.get(page), after.get(page)
            assert (was.status_code, was.headers.keys()) == (is_.status_code, is_.headers.keys()), page
            assert unvarying(was.text) == unvarying(is_.text), page
    with visitor(hosts, (theme, "")) as before, visitor(hosts, (theme, "all")) as after:
        assert unvarying(before.get("/admin/login/").text) == unvarying(after.get("/admin/login/").text)


def test_the_logins_of_the_host_are_its_own_business(hosts, theme):
    with visitor(hosts, (theme, "all")) as shop:
        logged = AuditEntry.objects.count()
        assert log_in(shop, "/admin/login/", "nobody").status_code == 200
        assert log_in(shop, "/admin/login/", "boss").status_code == 302
        assert AuditEntry.objects.count() == logged


# The console


def test_every_page_of_the_console_answers_and_every_link_leads_somewhere(theme, boss, answers):
    links = set()
    for where, (name, answer) in answers.items():
        if NO_PAGE.fullmatch(name):
            continue
        assert answer.status_code == 200, (where, answer.status_code)
        if "<html" in answer.text:
            assert "| Punctual" in answer.text and "The shop" not in answer.text, where
            assert "/unfold/css/styles" in answer.text, where
        links |= set(re.findall(r'(?:href|action)="(/[^"#]+)', answer.text.replace("&amp;", "&")))
    away = {link for link in links if not link.startswith((f"{AT}/", "/files/")) and link != "/"}
    assert away == set() and len(links) > 30
    if theme != THEMES[0]:
        return  # the links are the same
    to_ask = {link for link in links - answers.keys() if not re.search("logout/|/order/$|/order/run/$", link)}
    if not FULL:
        to_ask = enough_of(to_ask)
    assert {link for link in to_ask if boss.get(link).is_error} == set()


def test_every_page_of_the_console_has_a_title_of_its_own(answers):
    found = defaultdict(list)
    for where, (name, answer) in answers.items():
        if not NO_PAGE.fullmatch(name) and "<html" in answer.text:
            found[re.search(r"<title>\s*(.*?)\s*</title>", answer.text, re.DOTALL)[1]].append(where)

    assert len(found) > 10 and "| Punctual" not in found
    assert {title: pages for title, pages in found.items() if len(pages) > 1} == {}


def enough_of(links: set[str]) -> list[str]:
    """Links to each page, with each question that a link asks it, if not with each mixture of them."""
    found: dict[str, set[str]] = {}
    chosen = []
    for link in sorted(links, key=lambda link: (-link.count("="), link)):
        page, _, query = re.sub(r"\d+", "N", link).partition("?")
        asked = {page, *(part.partition("=")[0] for part in query.split("&"))}
        if not asked <= found.setdefault(page, set()):
            found[page] |= asked
            chosen.append(link)
    return chosen


def log_in(client: httpx.Client, where: str, name: str, password: str = PASSWORD) -> httpx.Response:
    return client.post(where, data={"username": name, "password": password} | csrf(client, where))


def csrf(client: httpx.Client, where: str) -> dict[str, str]:
    return dict(re.findall(r'name="(csrfmiddlewaretoken|typed_by|operation)" value="([^"]*)"', client.get(where).text))


def test_a_person_logs_in_at_the_console_and_out_again(hosts, theme):
    with visitor(hosts, (theme, "all")) as client:
        wanted = f"{AT}/punctual/jobdefinition/?status=PAUSED"
        to_login = client.get(wanted).headers["location"]
        assert to_login.startswith(f"{AT}/login/?next=")

        assert log_in(client, to_login, "boss", "wrong").status_code == 200
        assert log_in(client, to_login, "boss").headers["location"] == wanted
        assert log_in(client, f"{AT}/password_change/", "boss").status_code == 200
        bye = client.post(f"{AT}/logout/", data=csrf(client, f"{AT}/password_change/"))

        assert "logged out" in bye.text and f'href="{AT}/"' in bye.text
        last = AuditEntry.objects.order_by("-id").values_list("verb", "outcome")[:3]
        assert list(last) == [("logout", "logged out"), ("login", "logged in"), ("login", "failed")]


def test_whoever_guesses_at_the_console_has_to_wait(hosts, redis):
    redis.flushall()
    with visitor(hosts, ("plain", "all")) as client:
        answers = [log_in(client, f"{AT}/login/", "boss", "wrong") for _ in range(6)]
    assert [one.status_code for one in answers] == [200] * 5 + [429]
    assert int(answers[-1].headers["retry-after"]) > 0 and "Too many failed logins" in answers[-1].text
    redis.flushall()


def test_staff_of_the_host_without_rights_is_told_so(hosts, theme):
    with visitor(hosts, (theme, "all"), hosts.rows.nora) as nora:
        first, tasks = nora.get(f"{AT}/"), nora.get(f"{AT}/punctual/scheduletask/")

    assert first.status_code == 200 and "nora has no permissions in Punctual" in first.text
    assert tasks.status_code == 403 and "Your account lacks the permission" in tasks.text


def test_what_is_wrong_with_an_address_is_said_in_words(boss):
    typo = boss.get(f"{AT}/punctual/scheduletask/?stat=DEAD")
    assert typo.status_code == 400 and "&#x27;stat&#x27; is not a filter of this page" in typo.text
    gone = boss.get(f"{AT}/punctual/scheduletask/999999/change/")
    assert gone.status_code == 404 and "finished ones are kept for some days" in gone.text


def test_an_order_leads_back_into_the_console(hosts, boss):
    job = f"{AT}/punctual/jobdefinition/{hosts.rows.job}/"
    for verb in ("pause", "resume"):
        where = f"{job}order/{verb}/"
        done = boss.post(where, data={"reason": "a test"} | csrf(boss, where))
        assert done.headers.get("location") == f"{job}change/", done.text[-2000:]


def test_a_form_whose_login_ran_out_comes_back_as_it_was_typed(hosts, theme):
    add = f"{AT}/punctual/jobdefinition/add/"
    with visitor(hosts, (theme, "all"), hosts.rows.boss) as client:
        typed = {"name": f"typed at night, {theme}", "reason": "r"} | csrf(client, add)
        del client.cookies["sessionid"]
        to_login = client.post(add, data=typed).headers["location"]
        assert to_login.startswith(f"{AT}/login/?next=")
        back = log_in(client, to_login, "boss").headers["location"]
        shown = client.get(back).text
        assert typed["name"] in shown and "What you typed is back" in shown

        stale = client.post(add, data=typed | {"csrfmiddlewaretoken": "a" * 64})
        assert (stale.status_code, stale.headers["location"]) == (302, add)
        assert typed["name"] in client.get(add).text
        forged = client.post(add, data={"name": "forged", "csrfmiddlewaretoken": "a" * 64})
    assert forged.status_code == 403 and not JobDefinition.objects.filter(name="forged").exists()


def test_the_console_says_itself_what_a_browser_may_do(boss):
    assert "script-src 'self';" in boss.get(f"{AT}/").headers["content-security-policy"]
    assert "content-security-policy" not in boss.get("/admin/").headers


def test_what_is_searched_for_in_one_site_is_not_found_in_the_other(hosts):
    with visitor(hosts, ("themed", "all"), hosts.rows.boss) as boss:
        assert f"{AT}/punctual/jobdefinition/" in boss.get(f"{AT}/search/?s=JOB&extended=1").text
        theirs = boss.get("/admin/search/?s=job").text
        assert "jobdefinition" not in theirs
        assert "counter" in boss.get("/admin/search/?s=counter").text
        assert "counter" not in boss.get(f"{AT}/search/?s=counter").text


# The API


def test_the_api_answers_below_the_same_prefix(hosts, boss):
    with visitor(hosts, ("plain", "all")) as nobody:
        assert nobody.get(f"{AT}/api/v1/live").status_code == 200
        assert nobody.get(f"{AT}/api/v1/docs").headers["location"].startswith(f"{AT}/login/?next={AT}/api/v1/docs")
    assert f'href="{AT}/api/v1/openapi.json"' in boss.get(f"{AT}/api/v1/docs").text
    assert f'"servers": [{{"url": "{AT}/api/v1"}}]' in boss.get(f"{AT}/api/v1/docs?part=jobs").text
    assert boss.get(f"{AT}/api/v1/openapi.json").json()["servers"][0]["url"].rstrip("/").endswith(f"{AT}/api/v1")


# In a browser


def test_the_pages_look_as_before_and_the_console_alike_in_both(hosts, chromium):
    visits = {host: Visits(chromium, url) for host, url in hosts.urls.items()}
    pages = {host: one.page(hosts.rows.boss) for host, one in visits.items()}

    def picture(page) -> bytes:
        return page.screenshot(animations="disabled")

    def alike(one, other, where: str) -> None:
        for page in (one, other):
            page.goto(where)
        # Scripts and fonts may come a moment after the page.
        wait_until(lambda: picture(one) == picture(other), timeout=60, describe=f"the same picture of {where}")

    for theme in THEMES:
        alike(pages[theme, ""], pages[theme, "all"], f"{COUNTER}{hosts.rows.counter}/change/")
    alike(pages["plain", "all"], pages["themed", "all"], f"{AT}/punctual/apitoken/")
    for one in visits.values():
        one.close()
        one.forgive("favicon.ico")  # the shop has none
        assert one.complaints == []
