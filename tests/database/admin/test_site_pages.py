"""The sites in the console and over the API: what is shown, what is asked for, and what an order does."""

from uuid import uuid4

import pytest

from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle.installation import look
from tasks_app.lifecycle.site import activate, open_chosen, stand_by
from tasks_app.models import AuditEntry
from tests.support.api import Api
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.moves import claimed, started
from tests.support.operators import operator
from tests.support.quarantine import installation
from tests.support.ready import boss
from tests.support.site import beat_at

pytestmark = pytest.mark.django_db
PAGE = "/admin/punctual/site/"
TASKS = ("view_scheduletask", "view_jobdefinition", "operate_scheduletask", "operate_jobdefinition")
LOOKS = ("view_installation", "view_scheduletask")


@pytest.fixture(autouse=True)
def _nobody_gone(settings) -> None:
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_TTL_SECONDS": 600.0}


def somebody(name: str, *rights: str):
    return client_of(person(name, *(f"punctual.{one}" for one in rights)))


@pytest.fixture
def olga():
    return somebody("olga", *LOOKS, "operate_installation")


def typed(site: str, **changed: object) -> dict:
    return {"confirm": site, "reason": "a fire", "operation": str(uuid4()), "epoch": 0} | changed


def test_the_page_shows_which_site_works_who_is_there_and_who_chose(olga):
    beat_at("b")
    beat_at("c", seconds_ago=3_600.0)
    page = olga.get(PAGE).content.decode()
    assert "Site <bdi>main</bdi> is the active one" in page and "The last choices" not in page
    assert f'href="{PAGE}activate/b/"' in page and f'href="{PAGE}activate/main/"' not in page
    assert "60 min ago" in page  # of a site that is gone

    open_chosen(activate("b", operator("a <flood>")))

    page = olga.get(PAGE).content.decode()
    assert "Site <bdi>b</bdi> is the active one" in page and "site b 1" in page
    assert "a &lt;flood&gt;" in page and f'href="{PAGE}activate/main/"' in page
    assert f'<a href="{PAGE}">Sites</a>' in olga.get("/admin/").content.decode()  # this is main, which stands by
    stand_by(operator())
    assert "until somebody activates a site" in olga.get(PAGE).content.decode()


def test_an_order_says_what_it_would_do_is_typed_out_and_done_once(olga, django_capture_on_commit_callbacks):
    look()
    started("runs")
    claimed("waits")
    beat_at("b")
    page = olga.get(f"{PAGE}activate/b/").content.decode()
    assert "1 batch that workers have begun would go on" in page and "Type b to confirm it" in page
    assert "anyway" not in page
    chinese = olga.get(f"{PAGE}activate/b/", headers={"Accept-Language": "zh-CN"}).content.decode()
    assert "执行节点已开始的 1 个批次会执行完" in chinese and "would" not in chinese

    refused = olga.post(f"{PAGE}activate/b/", typed("B"))
    assert (refused.status_code, "You typed &#x27;B&#x27;." in refused.content.decode()) == (400, True)
    assert olga.post(f"{PAGE}activate/b/", typed("b", reason="")).status_code == 400
    assert installation().site == "main"

    given = typed("b")
    with django_capture_on_commit_callbacks(execute=True):
        assert olga.post(f"{PAGE}activate/b/", given).status_code == 302
        assert (installation().site, installation().next_site) == (None, "b")  # opened once it is committed
    assert (installation().site, installation().site_epoch) == ("b", 1)
    assert olga.post(f"{PAGE}activate/b/", given).status_code == 302  # sent twice, done once
    [entry] = AuditEntry.objects.filter(verb="site")
    assert (entry.actor, entry.reason, entry.detail["site"]) == ("olga", "a fire", "b")

    page = olga.get(f"{PAGE}standby/").content.decode()
    assert "Nothing more would be started anywhere" in page and "Type stand by to confirm it" in page
    assert olga.post(f"{PAGE}standby/", typed("stand by", epoch=1)).status_code == 302
    assert (installation().site, installation().next_site) == (None, None)


def test_an_order_about_sites_as_they_no_longer_are_is_refused(olga):
    look()
    beat_at("b")
    activate("c", operator())

    refused = olga.post(f"{PAGE}activate/b/", typed("b"))

    assert (refused.status_code, "somebody has chosen site &#x27;c&#x27; since" in refused.content.decode()) == (
        400,
        True,
    )
    assert olga.post(f"{PAGE}standby/", typed("stand by")).status_code == 400
    assert (installation().next_site, installation().site_epoch) == ("c", 1)


def test_a_site_without_beats_is_activated_only_if_that_is_ticked(olga):
    look()
    assert "activate it anyway" in olga.get(f"{PAGE}activate/c/").content.decode()
    refused = olga.post(f"{PAGE}activate/c/", typed("c"))
    assert "no beat of site &#x27;c&#x27; is alive" in refused.content.decode()
    assert installation().site == "main"
    assert olga.post(f"{PAGE}activate/c/", typed("c", anyway="on")).status_code == 302
    assert installation().next_site == "c"
    assert olga.get(f"{PAGE}activate/c d/").status_code == 404


def test_who_may_only_look_gives_no_orders_and_who_may_not_sees_nothing():
    look()
    vera, noah = somebody("vera", *LOOKS), somebody("noah", "view_jobdefinition")

    assert (vera.get(PAGE).status_code, "Activate …" in vera.get(PAGE).content.decode()) == (200, False)
    for page, word in ((f"{PAGE}activate/b/", "b"), (f"{PAGE}standby/", "stand by")):
        assert (vera.get(page).status_code, vera.post(page, typed(word)).status_code) == (403, 403)
    assert noah.get(PAGE).status_code == 403
    assert installation().site == "main"


# ---- over the API ----


def test_operators_see_and_switch_over_the_api(django_capture_on_commit_callbacks):
    beat_at("b")
    api = boss()
    seen = api.get("/sites").body
    assert (seen["active"], seen["epoch"], seen["standbys"], seen["by"]) == ("main", 0, [], "")
    foreseen = {one["name"]: one["foreseen"] for one in seen["sites"]}
    assert foreseen["main"] == "" and "Site 'b' has 1 live beat" in foreseen["b"]
    assert "Nothing more would be started" in seen["standby_foreseen"]

    with django_capture_on_commit_callbacks(execute=True):
        chosen = api.post("/sites/activate", {"site": "b", "epoch": 0, "reason": "a fire"})
    assert chosen.body == {"active": None, "chosen": "b", "epoch": 1}
    seen = api.get("/sites").body
    assert (seen["active"], seen["by"], seen["reason"], seen["resuming"]) == ("b", "token boss", "a fire", "site b 1")

    stale = api.post("/sites/standby", {"epoch": 0, "reason": "too late"})
    assert (stale.code, "epoch is 0, and it is 1 by now" in stale.body["detail"]) == ("SCH_422_INVALID", True)
    assert api.post("/sites/activate", {"site": "b", "reason": "again"}).code == "SCH_422_INVALID"
    wrong = api.post("/sites/activate", {"site": "b/2", "anyway": True, "reason": "a typo"})
    assert "its name must be at most 50 letters" in wrong.body["detail"]
    assert api.post("/sites/activate", {"site": "c", "reason": "a typo"}).code == "SCH_422_INVALID"
    assert api.post("/sites/standby", {"reason": "all stop"}).body == {"active": None, "chosen": None, "epoch": 2}


def test_tenants_only_learn_which_site_works_and_people_need_the_right():
    beat_at("b")
    look()
    seen = Api().get("/sites").body
    assert (seen["active"], seen["sites"], seen["standby_foreseen"], seen["by"]) == ("main", [], "", "")
    tenant = Api(token=issue("theirs", "default", operator(), can_write=True)[1])
    for order in ("activate", "standby"):
        body = {"reason": "x"} | ({"site": "b"} if order == "activate" else {})
        assert tenant.post(f"/sites/{order}", body).code == "SCH_403_FORBIDDEN"
        pia = somebody(f"pia {order}", *TASKS)
        answer = pia.post(f"/api/v1/sites/{order}", body, content_type="application/json")
        assert (answer.status_code, "punctual.operate_installation" in answer.json()["detail"]) == (403, True)
        assert pia.get("/api/v1/sites").status_code == 403
    assert (installation().site, installation().site_epoch) == ("main", 0)
