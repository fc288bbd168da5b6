"""What operators did can't be emptied either: TRUNCATE passes by triggers on UPDATE and DELETE."""

from django.db import migrations

SET = """
CREATE TRIGGER audit_entry_not_truncated BEFORE TRUNCATE ON audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_entry_only_grows();
"""
RESET = "DROP TRIGGER audit_entry_not_truncated ON audit_entry;"


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0015_lateness")]
    operations = [migrations.RunSQL(SET, RESET)]
