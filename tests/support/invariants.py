"""Asks the product's own rules after a test."""

from tasks_app.engine.watch.invariants import broken_rules


def assert_consistent() -> None:
    broken = broken_rules()
    assert not broken, "\n".join(f"{rule}: not so for {task_id} ({detail})" for rule, task_id, detail in broken)
