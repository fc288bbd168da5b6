from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from ._tenants import move_to_internal

INTERNAL = "internal"


def refuse_tokens_of_it(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """A token of a tenant that happens to have this name would reach the scheduler's own tasks from now on."""
    tokens = apps.get_model("tasks_app", "ApiToken").objects.using(schema_editor.connection.alias)
    found = tokens.filter(tenant=INTERNAL, revoked_at=None)
    if names := [f"{token.id} ({token.name})" for token in found[:5]]:
        raise RuntimeError(
            f"tenant {INTERNAL!r} is the scheduler's own from now on, and these tokens belong to it: {', '.join(names)}. "
            "Revoke them with `manage.py api_token revoke ID`, migrate again, and issue others for another tenant."
        )


class Migration(migrations.Migration):
    atomic = False  # in steps, each committed by itself

    dependencies = [("tasks_app", "0014_cancelled_from")]

    operations = [
        migrations.RunPython(refuse_tokens_of_it, migrations.RunPython.noop),
        move_to_internal("PUNCTUAL_CANARY"),
    ]
