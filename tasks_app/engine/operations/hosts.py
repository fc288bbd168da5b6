"""What people ask of the hosts that callbacks go to, where a dispatcher has to hear of it."""

from tasks_app.engine.wakeup import wake_on_commit
from tasks_app.lifecycle import hosts
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.hosts import Called


def try_now(called: Called, operator: Operator) -> bool:
    """One of the tasks that wait for this host tries it now; False if it is not unwell."""
    dues = hosts.try_now(called, operator)
    wake_on_commit(dues or {})
    return dues is not None
