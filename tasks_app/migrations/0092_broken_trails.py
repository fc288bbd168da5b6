"""A trail whose last place is not what its head says gets no more places, and keeps no other trail from them: what
waits for one there is kept apart."""

from django.db import migrations, models

# The last place that is kept is the one that the head names, and its hash too; or all of them were kept long enough.
SOUND = """
CREATE FUNCTION punctual_trail_sound(whose text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN last.place IS NULL THEN coalesce(t.place = t.floor_place, TRUE)
                ELSE (last.place, last.hash) = (t.place, t.hash) END IS TRUE
    FROM (VALUES (1)) AS one
    LEFT JOIN punctual_audit_trail t ON t.tenant = whose
    LEFT JOIN LATERAL (
        SELECT place, hash FROM punctual_audit_link k WHERE k.tenant = whose ORDER BY place DESC LIMIT 1
    ) AS last ON TRUE
$$;
"""
# On the way back they wait like all others.
WAIT_AGAIN = """
INSERT INTO punctual_audit_unchained (entry_id, created_at)
SELECT entry_id, created_at FROM punctual_audit_skipped ON CONFLICT DO NOTHING;
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0091_scopes")]

    operations = [
        migrations.CreateModel(
            name="SkippedEntry",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant", "entry", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "tenant",
                    models.CharField(db_collation="C", help_text="Empty: what all tenants share.", max_length=63),
                ),
                ("entry", models.BigIntegerField(db_column="entry_id")),
                ("created_at", models.DateTimeField()),
            ],
            options={"db_table": "punctual_audit_skipped", "default_permissions": ()},
        ),
        migrations.RunSQL(SOUND, "DROP FUNCTION punctual_trail_sound(text);" + WAIT_AGAIN),
    ]
