"""Signs of life, of beats and of standbys, out of the installation's row, which every claim reads.

They were written every few seconds. A new table with a row for each; what is known goes there, and back. The columns stay
in the database, where the version before writes them; a later one drops them.
"""

from django.db import migrations, models

# Rewritten every few seconds, on the same page.
SET = "ALTER TABLE punctual_sign SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);"
FORTH = """
INSERT INTO punctual_sign (kind, address, at)
SELECT 'beat', '', seen_at FROM punctual_installation WHERE seen_at IS NOT NULL
UNION ALL
SELECT 'standby', left(s.key, 45), to_timestamp(s.value::float8)
FROM punctual_installation i CROSS JOIN LATERAL jsonb_each_text(i.standbys) AS s
"""
BACK = """
UPDATE punctual_installation
SET seen_at = (SELECT at FROM punctual_sign WHERE kind = 'beat'),
    standbys = (SELECT coalesce(jsonb_object_agg(address, round(date_part('epoch', at))), '{}')
                FROM punctual_sign WHERE kind = 'standby')
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0053_site")]

    operations = [
        migrations.CreateModel(
            name="SignOfLife",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "kind", "address", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("kind", models.CharField(db_collation="C", max_length=7)),
                (
                    "address",
                    models.CharField(
                        db_collation="C", help_text="Of a standby; empty: a socket of its files.", max_length=45
                    ),
                ),
                ("at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "signs of life",
                "db_table": "punctual_sign",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["beat", "standby"])), name="punctual_sign_kind"
                    )
                ],
            },
        ),
        migrations.RunSQL(SET, migrations.RunSQL.noop),
        migrations.RunSQL(FORTH, BACK),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField(model_name="installation", name="seen_at"),
                migrations.RemoveField(model_name="installation", name="standbys"),
            ]
        ),
    ]
