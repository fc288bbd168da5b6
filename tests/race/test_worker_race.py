"""A worker is drained while it reports itself."""

import pytest

from tasks_app.engine.nodes import new_node_id, report_worker
from tasks_app.engine.operations import workers
from tasks_app.models import Node
from tests.support.marks import commits
from tests.support.overlap import overlap

pytestmark = commits


@pytest.mark.parametrize("commit", [True, False])
def test_a_report_beside_a_drain_waits_for_it_hears_of_it_and_brings_no_slot_back(commit):
    node_id = new_node_id()
    report_worker(node_id, "w:1", 4, ["default"])

    done, heard = overlap(
        lambda: workers.drain("w:1", reason="why", by="olga"),
        lambda: report_worker(node_id, "w:1", 4, ["default"]),
        commit=commit,
    )

    assert done
    assert (heard.at is not None, heard.by) == ((True, "olga") if commit else (False, ""))
    assert Node.objects.get().slots == (0 if commit else 4)


@pytest.mark.parametrize("commit", [True, False])
def test_two_who_drain_the_same_worker_do_it_once(commit):
    report_worker(new_node_id(), "w:1", 4, ["default"])

    one, two = overlap(
        lambda: workers.drain("w:1", reason="first", by="olga"),
        lambda: workers.drain("w:1", reason="second", by="otto"),
        commit=commit,
    )

    assert (one, two) == (True, not commit)
    assert Node.objects.get().drained_by == ("olga" if commit else "otto")
