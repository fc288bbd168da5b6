"""Every page with a keyboard, a screen reader, in the dark and on a phone: what axe-core finds, whether it fits, and
where the focus is.

Whatever a page does that its policy forbids fails the test too, as a complaint of the browser.

The pages are taken from the URLconf, so that a new one can't be forgotten. Of pages that share a template `make test`
looks at one, in one of three ways, and of texts that look alike at the contrast of one; `make prove` at all of them in
all ways. Whether it fits is asked of every page that is loaded.
"""

import re
from pathlib import Path

import axe_playwright_python
import pytest
from django.urls import URLPattern, get_resolver
from playwright.sync_api import Page, expect

from django_punctual import schedule_many
from inventory_app.lifecycle import add
from tasks_app.models import AlarmIncident, ScheduleTask
from tests.support.addresses import AT, NO_PAGE, console_addresses
from tests.support.alarms import channel, died, look, rule
from tests.support.articles import approved, pending
from tests.support.browser import person
from tests.support.editor import LIST
from tests.support.engine import run_due
from tests.support.host.rows import one_of_each
from tests.support.scale import FULL, some

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 720}
APPS = ("/admin/articles_app/", "/admin/inventory_app/")
# Rules that we keep although axe calls them moderate; of the others, those that are serious or critical.
KEPT = ["landmark-one-main", "landmark-unique", "heading-order", "page-has-heading-one", "region", "skip-link"]
# Rules of which nothing is kept, since what they find is less than serious: not to ask them saves their time.
LEFT = ["aria-allowed-role", "aria-deprecated-role", "empty-heading", "empty-table-header"]
LEFT += [
    "form-field-multiple-labels",
    "image-redundant-alt",
    "presentation-role-conflict",
    "scope-attr-valid",
    "table-duplicate-name",
]
LEFT += [f"landmark-{one}-is-top-level" for one in ("banner", "complementary", "contentinfo", "main")]
LEFT += [f"landmark-no-duplicate-{one}" for one in ("banner", "contentinfo", "main")]
# How a page is looked at: its width, its scheme, and whether axe is asked about contrast and about all else.
WAYS = {
    "light": (DESKTOP, "light", {"contrast": True, "others": True}),
    "dark": (DESKTOP, "dark", {"contrast": True, "others": False}),
    "narrow": (PHONE, "light", {"contrast": False, "others": True}),
}
# The menu is the same on each page: it is half of the elements, and looked at once. What the tab remembers is how often
# it has asked about texts that look alike.
RUN = """({ contrast, others, first, kept, left }) => {
    if (!first) document.getElementById("nav-sidebar")?.replaceChildren();
    const asked = new Map(JSON.parse(sessionStorage.getItem("asked") || "[]"));
    const look = contrast && window.markLooks?.(asked);
    const texts = contrast && (!look || document.querySelector("[data-look]") !== null);
    if (!texts && !others) return [];
    const off = texts ? left : [...left, "color-contrast"];
    const which = others
        ? { rules: Object.fromEntries(off.map((id) => [id, { enabled: false }])) }
        : { runOnly: ["color-contrast"] };
    const resultTypes = look ? ["violations", "passes"] : ["violations"];
    const given = { resultTypes, elementRef: true, selectors: false, preload: false, ...which };
    return axe.run(document, given).then((found) => {
        const passed = found.passes.find((one) => one.id === "color-contrast")?.nodes ?? [];
        if (look) window.noteLooks(asked, look, new Set(passed.map(({ element }) => element)));
        return found.violations
            .filter((one) => ["serious", "critical"].includes(one.impact) || kept.includes(one.id))
            .map((one) => `${one.id}: ${one.nodes[0].html} ${one.nodes[0].failureSummary}`);
    });
}"""
# The contrast of a text depends on its own style and on what is painted below it. To find it takes axe four fifths of
# its time, so it is asked about one of those that have all of that in common, until one has passed or three could not
# be told: icons, and what is shown only when it has the focus.
ALIKE_ONCE = """
axe.configure({ rules: [{ id: "color-contrast", selector: "[data-look]" }] });
const ENOUGH = 3;
window.noteLooks = (asked, look, passed) => {
    for (const one of document.querySelectorAll("[data-look]")) {
        asked.set(look(one), (asked.get(look(one)) ?? 0) + (passed.has(one) ? ENOUGH : 1));
    }
    sessionStorage.setItem("asked", JSON.stringify([...asked]));
};
window.markLooks = (asked) => {
    const known = new Map(), below = new Map();
    const ground = (one) => {
        if (!one) return "";
        if (!below.has(one)) {
            const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(one);
            const over = ["absolute", "fixed", "sticky"].includes(position) ? one.className : "";
            const own = [backgroundColor, backgroundImage, opacity, over].join();
            below.set(one, ground(one.parentElement) + (own === "rgba(0, 0, 0, 0),none,1," ? "" : `${own};`));
        }
        return below.get(one);
    };
    const look = (one) => {
        const { color, fontSize, fontWeight, textShadow } = getComputedStyle(one);
        const off = Boolean(one.closest(":disabled, [aria-disabled=true]"));
        return [ground(one), one.localName, one.className, off, color, fontSize, fontWeight, textShadow].join();
    };
    for (const one of document.querySelectorAll("body *")) {
        const says = [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
        if (!(says || one.matches("input, select, textarea"))) continue;
        if (!one.checkVisibility({ visibilityProperty: true })) continue;
        const its = look(one);
        if (asked.get(its) >= ENOUGH || known.has(its)) continue;
        known.set(its, one);
        one.dataset.look = "";
    }
    return look;
};
"""
# Every expression of Alpine.js is read, those of keys and clicks too, and none is run: what it can't read without eval
# is a complaint of the browser.
READ = """() => {
    const seen = new Set();
    for (const one of document.querySelectorAll("body *")) {
        for (const { name, value } of one.attributes) {
            if (!/^x-(data|init|show|text|model|on:|bind:|sort:)/.test(name) || !value || seen.has(value)) continue;
            seen.add(value);
            Alpine.evaluate(one, `false && (${value})`);
        }
    }
}"""
WIDE = "document.documentElement.scrollWidth"
# Whether a page is as light as it was asked to be; pages for people without an account have no part of that name.
LIGHT = """() => {
    const main = document.getElementById("main");
    return main && getComputedStyle(main).backgroundColor.includes("255, 255, 255");
}"""
# What a form is sent to, what answers to a program, what is a file, and Django's forms, of which we have none.
OTHERS = re.compile(".*_(live|move|preview_typed|export|delete|history|sync)|user_.*|group_.*|view_on_site|jsi18n")
# Pages whose template another one has, too: a form to add what another form edits, and orders, which have a reason and
# a button, as the suspension of a tenant does.
ALIKE = re.compile(
    "/admin/(articles_app/article|inventory_app/product)/add/|/admin/punctual/("
    "(alarmchannel|alarmrule|apitoken|calendar|jobdefinition|membership|secret|subscription|tenant)/add/"
    "|calendar/[0-9]+/remove/|jobdefinition/[0-9]+/firing/skip/|host/(lift|try)/.*|installation/resume/"
    "|membership/[0-9]+/revoke/|node/worker/.*/drain/|safeguard/.*/force/|scheduletask/[0-9]+/decrypt/"
    "|secret/[0-9]+/(delete|withdraw)/|site/(standby|activate/.*)/|tenant/(archive|resume|.*-archiving)/.*)"
)


def addresses(rows) -> list[str]:
    console = [
        where.replace(AT, "/admin", 1)
        for where, name in console_addresses(rows)
        if not NO_PAGE.fullmatch(name) and not OTHERS.fullmatch(name)
    ]
    apps = [re.sub("<[^>]*>", str(rows.of_apps[where.split("/")[3]]), where) for where in of_apps(get_resolver())]
    pages = [*console, *apps, "/admin/nothing/"]
    return pages if FULL else [where for where in pages if not ALIKE.fullmatch(where)]


def of_apps(resolver, prefix: str = "/"):
    """The addresses of the editors' pages, and of those of products."""
    for one in resolver.url_patterns:
        where = prefix + str(one.pattern)
        if not isinstance(one, URLPattern):
            yield from of_apps(one, where)
        elif where.startswith(APPS) and one.name and not OTHERS.fullmatch(one.name):
            yield where


@pytest.fixture
def rows(transactional_db):
    """One of each, of which some have as much to say as there may be."""
    schedule_many("T_QUIET", [{"key": "k" * 199 + str(n)} for n in range(3)], payload={"do": "crash"})
    run_due()
    rows = one_of_each()
    rows.task = ScheduleTask.objects.filter(status="FAIL").first().id
    dying = rule(runbook=f"https://wiki.example.com/{'a-very-long-address-' * 5}", channels=[channel()])
    died(1_500)
    look()
    rows.alarms |= {"rule_id": dying.id, "incident_id": AlarmIncident.objects.get(rule=dying.id, cause="SMTP_DOWN").id}
    approved(title="A rather long title of an article that has to fit into a narrow window, too")
    rows.of_apps = {"article": pending(), "product": add("code-1", "A product").pk}
    return rows


@pytest.mark.parametrize("ways", [[way] for way in WAYS] if FULL else [[*WAYS]], ids="-".join)
def test_every_page_fits_a_phone_and_axe_finds_nothing_serious_light_dark_or_narrow(visits, rows, ways):
    page = visits.page(rows.boss, own=True)
    page.add_init_script(AXE if FULL else AXE + ALIKE_ONCE)
    looked, found = 0, []
    for way in ways:
        width, scheme, _ = WAYS[way]
        page.emulate_media(color_scheme=scheme)
        widths, first = [width] if width == PHONE else [width, PHONE], True
        for where in some(addresses(rows), list(WAYS).index(way), of=len(WAYS)):
            page.set_viewport_size(widths[0])
            page.goto(where)
            if not page.title():
                continue  # a part of a page
            found += [f"{where} {way} {one}" for one in wrong_with(page, way, widths, first=first)]
            looked, first = looked + 1, False
            widths.reverse()  # the next one is loaded at the width that the window has: another draws a page again
    visits.forgive("404")
    assert found == [] and looked >= (80 if FULL else 60), "\n".join(found)


def wrong_with(page: Page, way: str, widths: list[dict], *, first: bool) -> list[str]:
    """All that is wrong with the page that is open; `first`: with the menu, too."""
    width, scheme, asked = WAYS[way]
    wrong = []
    for one in widths:
        page.set_viewport_size(one)
        if one == width:
            wrong += page.evaluate(RUN, {**asked, "first": first, "kept": KEPT, "left": LEFT})
        if one == PHONE and (wide := page.evaluate(WIDE)) > PHONE["width"]:
            wrong.append(f"is {wide} wide")
    if page.evaluate(LIGHT) is (scheme == "dark"):
        wrong.append(f"is not {scheme}")
    page.evaluate(READ)
    return wrong


def test_the_menu_and_the_main_part_are_reached_with_the_keyboard_and_the_focus_comes_back(visits):
    page = visits.page(person("boss", superuser=True), LIST, viewport=PHONE)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the main part")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()

    menu = page.get_by_role("button", name="Menu")
    expect(menu).to_have_attribute("aria-expanded", "false")
    menu.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Close the menu")).to_be_focused()
    expect(page.get_by_role("link", name="Audit entries")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Audit entries")).to_be_hidden()
    expect(menu).to_be_focused()

    page.set_viewport_size(DESKTOP)
    expect(page.get_by_role("link", name="Audit entries")).to_be_visible()
    account = page.get_by_role("button", name="boss")
    account.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    page.get_by_role("button", name="Log out").focus()
    page.keyboard.press("Escape")
    expect(account).to_be_focused()
    expect(page.get_by_role("button", name="Log out")).to_be_hidden()  # it fades, and a click meanwhile is lost
    account.click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_class(re.compile(r"\bdark\b"))
    menu.focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("link", name="Audit entries")).to_be_hidden()

    page.reload()  # both stay as they were left
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.get_by_role("link", name="Audit entries")).to_be_hidden()
    expect(page.locator("html")).to_have_class(re.compile(r"\bdark\b"))
    menu.click()
    expect(page.get_by_role("link", name="Audit entries")).to_be_visible()
