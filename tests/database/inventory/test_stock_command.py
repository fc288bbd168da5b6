"""`manage.py stock import` and `manage.py stock coverage`."""

import io
import json
import sys
from contextlib import contextmanager

import pytest
from django.core.management import call_command
from django.db import connection

from inventory_app.csv_file import BadLine, read_products
from inventory_app.errors import InvalidProduct
from inventory_app.lifecycle import NewProduct, import_products
from inventory_app.management.commands import stock as command
from inventory_app.models import Product
from tasks_app.management.terminal import Screen
from tasks_app.models import ScheduleTask
from tests.support.marks import commits
from tests.support.stock import known, product, task_of

pytestmark = pytest.mark.django_db

FILE = """\
code,name,quantity,synced_at
A1,"A thing, with a comma",,
A2,Another,7,2026-01-01T09:00:00+01:00
,No code,,
A3,Bad number,seven,2026-01-01T09:00:00+01:00
A4,Naive,7,2026-01-01T09:00:00
A5,Too few
A6,No date,7,

A7,The last,,
"""


def stock(*arguments: str) -> tuple[int, str, str]:
    """Exit code, what it says, what it complains of."""
    out, complaints = io.StringIO(), io.StringIO()
    try:
        call_command("stock", *arguments, stdout=out, stderr=complaints)
    except SystemExit as ended:
        return ended.code, out.getvalue(), complaints.getvalue()
    return 0, out.getvalue(), complaints.getvalue()


def test_bad_lines_are_told_with_number_and_reason_and_the_rest_is_imported(tmp_path):
    file = tmp_path / "products.csv"
    file.write_text(FILE)

    code, said, complaints = stock("import", str(file))

    assert code == 1 and said.startswith("3 added, 0 already known, 5 bad lines")
    assert [line.split(":")[0] for line in complaints.splitlines()] == [f"line {n}" for n in (4, 5, 6, 7, 8)]
    assert "line 5: quantity 'seven' is not a whole number" in complaints
    assert "naive" in complaints.splitlines()[2] and "2 values instead of 4" in complaints.splitlines()[3]
    assert set(Product.objects.values_list("product_code", flat=True)) == {"A1", "A2", "A7"}
    assert (product("A1").name, product("A2").stock_quantity) == ("A thing, with a comma", 7)
    assert all(task_of(code).live for code in ("A1", "A2", "A7"))


def test_an_import_is_read_in_chunks_and_can_be_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "CHUNK", 7)
    file = tmp_path / "products.csv"
    file.write_text("code,name\n" + "".join(f"P{n},Product {n}\n" for n in range(30)))
    assert stock("import", str(file))[:1] == (0,)
    assert ScheduleTask.objects.count() == 30
    code, said, _ = stock("import", str(file))
    assert code == 0 and said.startswith("0 added, 30 already known, 0 bad lines")
    assert ScheduleTask.objects.count() == 30


@commits
def test_a_database_that_goes_away_is_told_with_what_was_imported(tmp_path, monkeypatch):
    file = tmp_path / "products.csv"
    file.write_text("code,name\n" + "".join(f"P{n},Product {n}\n" for n in range(30)))
    chunks = []

    def going(products):
        if len(chunks) == 2:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        chunks.append(products)
        return import_products(products)

    monkeypatch.setattr(command, "CHUNK", 10)
    monkeypatch.setattr(command, "import_products", going)
    code, said, complaints = stock("import", str(file))
    connection.close()
    assert (code, said) == (2, "") and complaints.startswith("The database went away after 20 products: ")
    assert Product.objects.count() == ScheduleTask.objects.count() == 20


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name\nA\n", "must name the columns"),
        (b"", "must name the columns"),
        (b"code,name,colour\n", "must name the columns"),
        (b"code,\xff\nA,x\n", "line 1 is not in UTF-8"),
        ("code,name\nA,x\n".encode("utf-16"), "line 1 is not in UTF-8"),
        (b'code,"name\nA,x\n', "line 1 is not CSV"),
        (b"code;name\nA;x\n", "must name the columns"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_sentence(tmp_path, content, words):
    file = tmp_path / "products.csv"
    file.write_bytes(content)
    code, said, complaints = stock("import", str(file))
    assert (code, said) == (2, "") and words in complaints
    assert not Product.objects.exists()


def test_a_file_that_is_not_there_is_told():
    assert stock("import", "/nowhere/at/all.csv")[0] == 2


def read(*lines: str) -> list[str]:
    """The codes that are read, and the numbers of bad lines with their reasons."""
    found = read_products(["code,name\n", *lines])
    return [f"{one.number}: {one.reason}" if isinstance(one, BadLine) else one.code for one in found]


@pytest.mark.parametrize("after", [["C,more\n"], ['C,"more, of it"\n'], [f"C{n},more\n" for n in range(200)]])
def test_a_quote_that_never_ends_spoils_its_own_line_only(after):
    assert read("A,good\n", 'B,"never ends\n', *after) == [
        "A",
        "3: is not CSV: unexpected end of data",
        *(line.split(",")[0] for line in after),
    ]


def test_every_quote_that_never_ends_is_told():
    lines = [f'B{n},"never ends\n' if n % 3 else f"B{n},good\n" for n in range(300)]
    found = read(*lines)
    assert [one for one in found if one.startswith("B")] == [f"B{n}" for n in range(0, 300, 3)]
    assert [int(one.split(":")[0]) for one in found if not one.startswith("B")] == [n + 2 for n in range(300) if n % 3]


def test_a_value_of_several_lines_is_one_bad_line_and_not_another_product():
    assert read('A,"two\n', 'B,lines"\n', "C,more\n") == ["2: has a value that spans 2 lines", "C"]


def test_a_quote_inside_a_value_is_a_part_of_it():
    assert read('A,19" rack\n', 'B,"19"" rack"\n', 'C,"a"b\n', "D,x\n")[:2] == ["A", "B"]


def test_a_line_that_is_not_in_utf8_is_told_and_the_rest_is_imported(tmp_path):
    file = tmp_path / "products.csv"
    file.write_bytes("code,name\nA,good\nB,Käse\nC,Brötchen\n".encode().replace("ä".encode(), b"\xe4"))
    code, said, complaints = stock("import", str(file))
    assert (code, complaints) == (1, "line 3: is not in UTF-8\n") and said.startswith("2 added")
    assert product("C").name == "Brötchen"


def test_every_bad_line_is_told(tmp_path):
    file = tmp_path / "products.csv"
    file.write_text("code,name\n" + ",no code\n" * 150)
    assert len(stock("import", str(file))[2].splitlines()) == 150


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_file_of_any_system_can_be_read_from_a_pipe(tmp_path, end):
    file = tmp_path / "products.csv"
    file.write_bytes(("\ufeff" + end.join(('"code","name"', 'A,"x"', "", "Ö,y"))).encode())
    with file.open() as pipe, redirected(pipe):
        assert stock("import", "-")[1].startswith("2 added, 0 already known, 0 bad lines")


@contextmanager
def redirected(file):
    before, sys.stdin = sys.stdin, file
    try:
        yield
    finally:
        sys.stdin = before


def test_a_byte_order_mark_and_capitals_are_forgiven():
    assert [one.code for one in read_products(["\ufeffCode, Name\n", " A , x \n"])] == ["A"]
    with pytest.raises(InvalidProduct):
        list(read_products(["code,code,name\n"]))


def test_a_terminal_gets_a_bar(tmp_path):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    bar = command._Bar(Screen(out), 200)
    bar.show(100, 5)
    assert "\r[###############               ]  50%  5 products" in out.getvalue()


def test_coverage_for_people_and_for_machines():
    import_products([known("A"), known("B"), NewProduct.of("C", "New")])
    code, said, _ = stock("coverage")
    assert code == 0 and said.startswith("2 of 3 products (66.7%) synced within 10 days, 0:00:00.")
    code, said, _ = stock("coverage", "--json")
    told = json.loads(said)
    assert (told["products"], told["fresh"], told["never_synced"], told["due"]) == (3, 2, 1, 1)
    assert sum(told["planned"]) == 2 and told["allowed_per_s"] == 100


def test_a_coverage_with_a_problem_is_told_by_the_exit_code(settings):
    import_products([known("A")])
    settings.STOCK = {"RATE": 0.000001}
    code, said, _ = stock("coverage")
    assert code == 1 and "! 1 products in 10 days" in said
    assert "rate, allowed     0.00000116 a second, 0.000001 a second" in said and "only 0.000001 are allowed" in said
