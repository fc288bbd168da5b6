"""Every page with a keyboard, a screen reader, in the dark and on a phone: what axe-core finds, and where the focus is.

Whatever a page does that its policy forbids fails the test too, as a complaint of the browser.

The pages are taken from the URLconf, so that a new one can't be forgotten. Of pages that share a template `make test`
looks at one, in one of three ways, and of texts that look alike at the contrast of one; `make prove` at all of them in
all ways.
"""

import re
from pathlib import Path

import axe_playwright_python
import pytest
from django.urls import URLPattern, get_resolver
from playwright.sync_api import expect

from inventory_app.lifecycle import add
from tests.support.addresses import AT, NO_PAGE, console_addresses
from tests.support.articles import approved, pending
from tests.support.browser import person
from tests.support.editor import LIST
from tests.support.host.rows import one_of_each
from tests.support.scale import FULL, some

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
PHONE, DESKTOP = {"width": 400, "height": 800}, {"width": 1280, "height": 720}
APPS = ("/admin/articles_app/", "/admin/inventory_app/")
# Rules that we keep although axe calls them moderate; of the others, those that are serious or critical.
KEPT = ["landmark-one-main", "landmark-unique", "heading-order", "page-has-heading-one", "region", "skip-link"]
# How a page is looked at: its width, its scheme, and axe's options.
WAYS = {
    "light": (DESKTOP, "light", {}),
    "dark": (DESKTOP, "dark", {"runOnly": ["color-contrast"]}),
    "narrow": (PHONE, "light", {"rules": {"color-contrast": {"enabled": False}}}),
}
# The name of the window tells what was seen on earlier pages: the menu, which is the same on each, and how texts look.
RUN = """([options, kept]) => {
    const before = window.name, seen = new Set(JSON.parse(before || "[]"));
    const look = window.markLooks?.(seen);
    const context = before ? { exclude: [["#nav-sidebar"]] } : document;
    const resultTypes = look ? ["violations", "passes"] : ["violations"];
    const given = { resultTypes, elementRef: true, selectors: false, preload: false, ...options };
    return axe.run(context, given).then((found) => {
        const passed = found.passes.find((one) => one.id === "color-contrast")?.nodes ?? [];
        for (const { element } of look ? passed : []) seen.add(look(element));
        window.name = JSON.stringify([...seen]);
        return found.violations
            .filter((one) => ["serious", "critical"].includes(one.impact) || kept.includes(one.id))
            .map((one) => `${one.id}: ${one.nodes[0].html} ${one.nodes[0].failureSummary}`);
    });
}"""
# The contrast of a text depends on its own style and on what is painted below it. To find it takes axe four fifths of
# its time, so it is asked about one of those that have all of that in common, until one has passed.
ALIKE_ONCE = """
axe.configure({ rules: [{ id: "color-contrast", selector: "[data-look]" }] });
window.markLooks = (seen) => {
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
        if (seen.has(its) || known.has(its)) continue;
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
# What a form is sent to, what answers to a program, what is a file, and Django's forms, of which we have none.
OTHERS = re.compile(".*_(live|move|preview_typed|export|delete|history|sync)|user_.*|group_.*|view_on_site")
# Pages whose template another one has, too: a form to add what another form edits, and orders, which have a reason and
# a button, as the suspension of a tenant does.
ALIKE = re.compile(
    "/admin/(articles_app/article|inventory_app/product)/add/|/admin/tasks_app/("
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
    rows = one_of_each()
    approved()
    rows.of_apps = {"article": pending(), "product": add("code-1", "A product").pk}
    return rows


@pytest.mark.parametrize("way", WAYS)
def test_axe_finds_nothing_serious_on_any_page_light_dark_or_narrow(visits, rows, way):
    viewport, scheme, options = WAYS[way]
    page = visits.page(rows.boss, own=True, viewport=viewport, color_scheme=scheme)
    page.add_init_script(AXE if FULL else AXE + ALIKE_ONCE)
    looked, found = 0, []
    for where in some(addresses(rows), list(WAYS).index(way), of=len(WAYS)):
        page.goto(where)
        if not page.title():
            continue  # a part of a page
        found += [f"{where} {way} {one}" for one in page.evaluate(RUN, [options, KEPT])]
        page.evaluate(READ)
        looked += 1
    visits.forgive("404")
    assert found == [] and looked >= (80 if FULL else 20), "\n".join(found)


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
    menu.focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("link", name="Audit entries")).to_be_hidden()
    page.reload()
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.get_by_role("link", name="Audit entries")).to_be_hidden()  # it stays as it was left
    menu.click()

    account.click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_class(re.compile(r"\bdark\b"))
    page.reload()
    expect(page.locator("html")).to_have_class(re.compile(r"\bdark\b"))
