"""The faults inside a process do what they say: a lying commit has happened, a doubled batch goes out twice."""

from collections import Counter

import pytest
from django.db import OperationalError, connection

from tasks_app.lifecycle.claim import ClaimedBatch
from tests.support.marks import commits

pytestmark = commits
INSERT = "INSERT INTO testapp_counter (name, value) VALUES ('lie', 0)"


@pytest.fixture
def chaos_process(monkeypatch, tmp_path):
    for name, value in (("SEED", "7"), ("PROCESS", "worker-1/0"), ("FOLDER", str(tmp_path)), ("LIES", "1")):
        monkeypatch.setenv(f"CHAOS_{name}", value)
    return tmp_path


@pytest.fixture
def liar(chaos_process):
    """A connection all of whose commits report an error."""
    from chaos.lying_database.base import DatabaseWrapper

    lying = DatabaseWrapper(connection.settings_dict)
    yield lying
    lying.close()


def rows_there() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM testapp_counter WHERE name = 'lie'")
        return cursor.fetchone()[0]


def test_a_lying_statement_in_autocommit_has_happened(liar, chaos_process):
    with pytest.raises(OperationalError, match="it was committed"), liar.cursor() as cursor:
        cursor.execute(INSERT)

    assert rows_there() == 1
    assert (chaos_process / "lies.journal").read_text() == "worker-1/0 INSERT\n"


def test_a_lying_commit_has_happened(liar):
    liar.set_autocommit(False)
    with liar.cursor() as cursor:
        cursor.execute(INSERT)
    assert rows_there() == 0

    with pytest.raises(OperationalError, match="it was committed"):
        liar.commit()

    assert rows_there() == 1


def test_reading_never_lies(liar):
    with liar.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


def test_every_batch_goes_out_twice_and_out_of_order(chaos_process):
    from chaos.doubling_beat import KEPT_BACK, Doubler

    sent = []
    doubler = Doubler(send=lambda batches: sent.extend(batch.batch_no for batch in batches))
    numbers = [str(number) for number in range(200)]
    for number in numbers:
        doubler([ClaimedBatch(number, "default", "CHAOS_ROW", 1)])

    times = Counter(sent)
    assert set(times) == set(numbers)
    assert sorted(times.values()) == [1] * KEPT_BACK + [2] * (200 - KEPT_BACK)
    assert sent != sorted(sent, key=int)
