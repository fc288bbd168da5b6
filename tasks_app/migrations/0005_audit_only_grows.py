"""What operators did can only grow."""

from django.db import migrations

SET = """
CREATE FUNCTION punctual_audit_entry_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'punctual_audit_entry is append-only: % is refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER punctual_audit_entry_only_grows BEFORE UPDATE OR DELETE ON punctual_audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION punctual_audit_entry_only_grows();
"""
RESET = """
DROP TRIGGER punctual_audit_entry_only_grows ON punctual_audit_entry;
DROP FUNCTION punctual_audit_entry_only_grows();
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0004_operator")]
    operations = [migrations.RunSQL(SET, RESET)]
