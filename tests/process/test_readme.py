"""The README: short, its links lead somewhere, and its tour does what it shows, on a real beat and a real worker."""

import ast
import doctest
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.db import connection, transaction
from django.utils import timezone

from django_punctual.testing import run_due
from tasks_app.core.handlers import REGISTRY
from tasks_app.models import ScheduleTask
from tests.support.stack import ROOT
from tests.support.wait import wait_until

README = (ROOT / "README.md").read_text()
NUMBER = re.compile(r"(?<=task_id=)\d+|(?<=due=)[\d.]+")
PATIENCE = 30.0  # seconds for what the text says happens within half a second


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)[number]


def evaluated(source: str, names: dict[str, object]) -> str:
    """What the shell prints for it."""
    tree = ast.parse(source)
    if not isinstance(tree.body[-1], ast.Expr):
        exec(compile(tree, "README.md", "exec"), names)
        return ""
    value = eval(source, names)
    return "" if value is None else f"{value!r}\n"


@pytest.mark.parametrize(("page", "kilobytes"), [("README.md", 8), ("CONTRIBUTING.md", 6), ("CHANGELOG.md", 3)])
def test_the_pages_that_a_reader_opens_first_are_short(page, kilobytes):
    assert len((ROOT / page).read_bytes()) <= kilobytes * 1024


def test_its_links_and_pictures_are_there():
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README)

    assert len(targets) > 20
    assert [target for target in targets if not (ROOT / target).exists()] == []


@pytest.mark.django_db
def test_the_number_of_tables_is_right():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_class"
            r" WHERE relname LIKE 'punctual\_%' AND relkind IN ('r', 'p') AND NOT relispartition"
        )
        [(tables,)] = cursor.fetchall()

    assert f" {tables} tables named `punctual_*`" in README.replace("\n", " ")


@pytest.fixture
def demo_handlers() -> Iterator[None]:
    known = {handler.name for handler in REGISTRY}
    import_module("demo_app.handlers")
    yield
    for handler in list(REGISTRY):
        if handler.name not in known:
            REGISTRY.discard(handler.name)
    del sys.modules["demo_app.handlers"]


def test_the_tour_prints_what_it_shows(stack, demo_handlers):
    stack.beat(DEMO="1")
    stack.worker(DEMO="1")
    names: dict[str, object] = {}
    examples = doctest.DocTestParser().get_examples(block("pycon").partition("\n")[2])
    assert len(examples) >= 8

    for example in examples:
        shown = NUMBER.sub("N", example.want)
        if example.source.startswith("find("):  # what it finds comes about in another process
            wait_until(lambda one=example, want=shown: evaluated(one.source, names) == want, PATIENCE)
        else:
            assert NUMBER.sub("N", evaluated(example.source, names)) == shown, example.source


@pytest.mark.django_db
def test_its_handler_is_scheduled_and_retried_as_it_says():
    statuses = iter([503, 200])
    sent = []

    def send(invoice_id: int, idempotency_key: str) -> SimpleNamespace:
        sent.append((invoice_id, idempotency_key))
        return SimpleNamespace(status_code=next(statuses))

    invoice = SimpleNamespace(id=7, send_at=timezone.now(), save=lambda: None)
    names = {"gateway": SimpleNamespace(send=send), "invoice": invoice, "transaction": transaction}
    try:
        for number in (1, 2):
            exec(block("python", number), names)
        run_due()
        ScheduleTask.objects.update(due_at=timezone.now())
        run_due()
    finally:
        REGISTRY.discard("INVOICE_SEND")

    assert [invoice_id for invoice_id, _ in sent] == [7, 7]
    assert len({key for _, key in sent}) == 1
    assert ScheduleTask.objects.get().status == "SUCCESS"
