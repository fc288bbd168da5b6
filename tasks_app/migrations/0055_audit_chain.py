"""The audit trail is chained: each entry gets a place and a hash after its commit. New tables, an empty column, and a
trigger by which whoever writes an entry, of this version or the one before, also notes that it has no place yet."""

import django.db.models.functions.datetime
from django.db import migrations, models

# Without the rights of who writes: nobody needs any to the new tables to leave an entry.
SET = """
CREATE FUNCTION punctual_audit_entry_waits() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO punctual_audit_unchained (entry_id, created_at) SELECT id, created_at FROM added ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION punctual_audit_link_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.at < now() - interval '180 days' THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'punctual_audit_link is append-only: % is refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER punctual_audit_link_stays BEFORE DELETE ON punctual_audit_link
    FOR EACH ROW EXECUTE FUNCTION punctual_audit_link_stays();
CREATE TRIGGER punctual_audit_link_unchanged BEFORE UPDATE OR TRUNCATE ON punctual_audit_link
    FOR EACH STATEMENT EXECUTE FUNCTION punctual_audit_link_stays();
"""
WAITS = """
CREATE OR REPLACE TRIGGER punctual_audit_entry_waits AFTER INSERT ON punctual_audit_entry
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION punctual_audit_entry_waits();
"""
RESET = """
DROP TRIGGER punctual_audit_link_unchanged ON punctual_audit_link;
DROP TRIGGER punctual_audit_link_stays ON punctual_audit_link;
DROP FUNCTION punctual_audit_link_stays();
DROP TRIGGER punctual_audit_entry_waits ON punctual_audit_entry;
DROP FUNCTION punctual_audit_entry_waits();
"""
# As many rows go as come.
VACUUM = """
ALTER TABLE punctual_audit_unchained SET (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05)
"""
# Functions that act for others look for tables in our schema, and nowhere else.
PATH = """
SELECT set_config('punctual.path', current_setting('search_path'), TRUE),
       set_config('search_path', relnamespace::regnamespace || ', pg_temp', TRUE)
FROM pg_class WHERE oid = 'punctual_task'::regclass;
"""
BACK = "SELECT set_config('search_path', current_setting('punctual.path'), TRUE);"


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0054_standbys")]

    operations = [
        migrations.CreateModel(
            name="UnchainedEntry",
            fields=[
                ("entry", models.BigIntegerField(db_column="entry_id", primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField()),
            ],
            options={"db_table": "punctual_audit_unchained", "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="AuditLink",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant", "place", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "tenant",
                    models.CharField(db_collation="C", help_text="Empty: what all tenants share.", max_length=63),
                ),
                ("place", models.BigIntegerField(help_text="From 1, in the order of commit.")),
                ("entry", models.BigIntegerField(db_column="entry_id", unique=True)),
                ("at", models.DateTimeField(help_text="The entry's created_at.")),
                ("chained_at", models.DateTimeField(help_text="When it got its place.")),
                ("digest", models.BinaryField(help_text="SHA-256 of the entry; see core/audit_chain.py.")),
                ("hash", models.BinaryField(help_text="SHA-256 of all this and the hash before.")),
            ],
            options={
                "db_table": "punctual_audit_link",
                "default_permissions": (),
                "indexes": [models.Index(fields=["at"], name="punctual_audit_link_at")],
            },
        ),
        migrations.CreateModel(
            name="AuditTrail",
            fields=[
                (
                    "tenant",
                    models.CharField(db_collation="C", max_length=63, primary_key=True, serialize=False),
                ),
                ("place", models.BigIntegerField(help_text="The last that was given.")),
                ("hash", models.BinaryField(help_text="Of that place.")),
                (
                    "floor_place",
                    models.BigIntegerField(
                        db_default=0, help_text="The last whose entry was kept long enough and is gone."
                    ),
                ),
                (
                    "floor_hash",
                    models.BinaryField(help_text="Of that place; the oldest that is kept follows from it."),
                ),
                (
                    "anchored_place",
                    models.BigIntegerField(db_default=0, help_text="What the last anchor that names it says."),
                ),
                ("anchored_floor", models.BigIntegerField(db_default=0, help_text="The same, of the floor.")),
            ],
            options={"db_table": "punctual_audit_trail", "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="AuditAnchor",
            fields=[
                ("no", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                (
                    "key",
                    models.CharField(
                        db_collation="C", help_text="The id of the key that has signed it.", max_length=16
                    ),
                ),
                ("body", models.TextField(help_text="As it was signed and sent: a line of JSON.")),
                ("hash", models.BinaryField(help_text="SHA-256 of the body; the next one names it.")),
            ],
            options={"db_table": "punctual_audit_anchor", "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="AnchorPlace",
            fields=[
                (
                    "place",
                    models.TextField(help_text="Its URL, as it may be shown.", primary_key=True, serialize=False),
                ),
                ("sent_no", models.BigIntegerField(db_default=0)),
                ("sent_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("failing_since", models.DateTimeField(null=True)),
                ("error", models.TextField(db_default="")),
            ],
            options={"db_table": "punctual_audit_place", "default_permissions": ()},
        ),
        migrations.AddField(
            "auditentry",
            "address",
            models.TextField(
                help_text="Where it was done from; empty: the scheduler itself did it, or it was not known yet.",
                null=True,
            ),
        ),
        migrations.RunSQL(VACUUM, migrations.RunSQL.noop),
        migrations.RunSQL(PATH + SET + WAITS + BACK, RESET),
    ]
