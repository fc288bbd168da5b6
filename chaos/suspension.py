"""A tenant that an operator suspends and resumes during a run."""

from django.db import connection


def suspend(name: str) -> None:
    from tasks_app.lifecycle import tenants
    from tasks_app.lifecycle.audit import Operator

    connection.close()  # ours may have been cut with the others
    tenants.suspend(name, Operator("chaos", "to see what becomes of it"))


def resume(name: str) -> None:
    from tasks_app.lifecycle import tenants
    from tasks_app.lifecycle.audit import Operator

    connection.close()
    tenants.resume(name, Operator("chaos", "it has been long enough"))
