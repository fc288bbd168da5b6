from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

NAME = "punctual_audit_entry_tenant"


class Migration(migrations.Migration):
    """Built while others write. If that is interrupted, PostgreSQL leaves an index that is not valid: it goes first."""

    atomic = False
    dependencies = [("tasks_app", "0022_audit_tenant")]

    operations = [
        migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}", migrations.RunSQL.noop),
        AddIndexConcurrently("auditentry", models.Index(fields=["tenant", "id"], name=NAME)),
    ]
