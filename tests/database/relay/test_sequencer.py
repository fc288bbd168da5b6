"""Windows: recorded only if there is something, put together when they are old, made anew after a restore."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from tasks_app.engine.beat.relay.reader import Cursor
from tasks_app.engine.beat.relay.sequencer import Sequencer
from tasks_app.engine.beat.relay.windows import drop_windows, merge_windows
from tasks_app.models import OutboxWindow, Subscription
from tests.support.marks import commits
from tests.support.outbox import cut, keys_of, read_all, write, writers

pytestmark = commits


def subscription_at(window_no: int, row_id: int = 0) -> Subscription:
    return Subscription.objects.create(
        name=f"at {window_no}-{row_id}",
        events=["*"],
        sink="python",
        target={"name": "test"},
        window_no=window_no,
        row_id=row_id,
    )


def age(minutes: float) -> None:
    for window in OutboxWindow.objects.all():
        window.recorded_at -= timedelta(minutes=minutes)
        window.save(update_fields=["recorded_at"])


def test_nothing_is_recorded_when_nothing_happened():
    assert cut() == 0
    write("a")
    assert (cut(), cut(), cut()) == (1, 1, 1)

    assert OutboxWindow.objects.count() == 1


def test_a_window_says_what_is_in_it():
    write("first")
    cut()
    low = write("a", "b", event="task.dead")
    high = write("c", event="task.failed", tenant="acme")
    cut()

    window = OutboxWindow.objects.get(no=2)

    assert (window.min_id, window.max_id, window.count) == (low, high, 3)
    assert window.tenants == {"default": 2, "acme": 1}
    assert sorted(window.topics) == [["acme", "task.failed", "T_QUIET"], ["default", "task.dead", "T_QUIET"]]


def test_it_refuses_to_run_in_a_transaction():
    with transaction.atomic(), pytest.raises(RuntimeError, match="in a transaction"):
        Sequencer().run_once()


def test_old_windows_become_one_a_minute_with_all_that_was_in_them():
    with writers(1) as (long,):
        write("0")
        cut()
        long.write("long")
        for number in range(1, 5):
            write(str(number))
            cut()
        long.commit()
        cut()
    before = keys_of(read_all())
    OutboxWindow.objects.update(recorded_at=timezone.now() - timedelta(hours=1))
    write("new")
    cut()

    merge_windows()

    assert OutboxWindow.objects.count() == 3  # the first, those between, and the newest
    assert keys_of(read_all()) == ["0", "long", "1", "2", "3", "4", "new"]
    assert sorted(before) == sorted(keys_of(read_all()))[:-1]


def test_windows_are_not_put_together_across_a_cursor():
    for number in range(6):
        write(str(number))
        cut()
    row = OutboxWindow.objects.get(no=4).min_id
    subscription_at(4, row)
    OutboxWindow.objects.update(recorded_at=timezone.now() - timedelta(hours=1))

    merge_windows()

    assert list(OutboxWindow.objects.order_by("no").values_list("no", flat=True)) == [1, 3, 4, 5, 6]
    assert keys_of(read_all(Cursor(4, row))) == ["3", "4", "5"]
    assert keys_of(read_all()) == [str(number) for number in range(6)]


def test_windows_whose_rows_are_gone_go_too_but_never_the_newest():
    for number in range(3):
        write(str(number))
        cut()

    assert drop_windows(timezone.now() + timedelta(days=1)) == 2
    assert list(OutboxWindow.objects.values_list("no", flat=True)) == [3]
    write("next")
    assert cut() == 4


@pytest.fixture
def restored():
    """A dump of this database, in a server whose transactions have other numbers: as far as rows can tell."""

    def restore() -> None:
        OutboxWindow.objects.update(system=1)
        with connection.cursor() as cursor:
            # Numbers of the old server, far beyond those of this one.
            cursor.execute("UPDATE punctual_outbox SET xid = (xid::text::bigint + 1000000000)::text::xid8")
            for window in OutboxWindow.objects.all():
                cursor.execute(
                    "UPDATE punctual_outbox_window SET before = %s, after = %s WHERE no = %s",
                    [_shifted(window.before), _shifted(window.after), window.no],
                )

    return restore


def _shifted(snapshot: str | None) -> str | None:
    if snapshot is None:
        return None
    xmin, xmax, open_ones = snapshot.split(":")
    beyond = [str(int(one) + 1_000_000_000) for one in open_ones.split(",") if one]
    return f"{int(xmin) + 1_000_000_000}:{int(xmax) + 1_000_000_000}:{','.join(beyond)}"


def test_after_a_restore_nobody_misses_anything(restored):
    rows = []
    for number in range(4):
        rows.append(write(f"old-{number}"))
        cut()
    write("unseen")  # before the dump, and in no window
    done, half, new = subscription_at(5), subscription_at(3), subscription_at(0)
    restored()
    write("after the restore")

    assert cut() == 5
    write("later")
    assert cut() == 6

    def told(subscription: Subscription) -> list[str]:
        subscription.refresh_from_db()
        return keys_of(read_all(Cursor(subscription.window_no, subscription.row_id, subscription.place)))

    assert told(done) == ["unseen", "after the restore", "later"]
    assert told(half) == ["old-2", "old-3", "unseen", "after the restore", "later"]
    assert told(new) == ["old-0", "old-1", "old-2", "old-3", "unseen", "after the restore", "later"]


def test_after_a_restore_what_had_committed_late_is_told_too(restored):
    """Its row has a smaller number than others that were told; what lies beyond it comes again."""
    with writers(1) as (late,):
        write("first")
        cut()
        late.write("late")
        write("told")
        cut()
        late.commit()
    subscription = subscription_at(3)
    restored()

    cut()

    subscription.refresh_from_db()
    assert keys_of(read_all(Cursor(subscription.window_no, subscription.row_id))) == ["late", "told"]


def test_a_restore_without_a_single_event_goes_on_too(restored):
    write("a")
    cut()
    subscription = subscription_at(2)
    restored()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE punctual_outbox")

    cut()
    write("b")
    cut()

    subscription.refresh_from_db()
    assert keys_of(read_all(Cursor(subscription.window_no, subscription.row_id))) == ["b"]
