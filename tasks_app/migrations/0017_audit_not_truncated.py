"""What operators did can't be emptied either: TRUNCATE passes by triggers on UPDATE and DELETE."""

from django.db import migrations

SET = """
CREATE TRIGGER punctual_audit_entry_not_truncated BEFORE TRUNCATE ON punctual_audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION punctual_audit_entry_only_grows();
"""
RESET = "DROP TRIGGER punctual_audit_entry_not_truncated ON punctual_audit_entry;"


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0016_lateness")]
    operations = [migrations.RunSQL(SET, RESET)]
