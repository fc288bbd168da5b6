"""Links between the pages of the documentation lead somewhere."""

import re
from functools import cache
from pathlib import Path

from tests.support.stack import ROOT

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@cache
def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def leads_nowhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return not target.exists() or bool(anchor and target.suffix == ".md" and anchor not in anchors(target))


def test_every_link_to_a_file_or_heading_is_right():
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text())]
    local = [(page, link) for page, link in links if not link.startswith(("http:", "https:", "mailto:"))]

    assert len(local) > 500
    assert [(page.name, link) for page, link in local if leads_nowhere(page, link)] == []


def test_the_table_of_contents_has_every_page():
    docs = ROOT / "docs"
    listed = set(re.findall(r"\]\(([^)\s#]+)", (docs / "README.md").read_text()))
    folders = {"moving"}  # listed as a whole
    pages = {str(page.relative_to(docs)) for page in docs.rglob("*.md") if page.parent.name not in folders}

    assert listed & folders == folders
    assert pages - listed == {"README.md"}


def test_the_page_about_the_kernel_is_short():
    assert len((ROOT / "docs" / "kernel.md").read_bytes()) <= 12 * 1024
