"""Who asked for a task: no statement writes it. Its default is the actor that a request has named for its transaction."""

from django.db import migrations, models

HELP = "The person or API token that scheduled it; empty: code, or the schedule of its job."
DEFAULT = """
ALTER TABLE punctual_task ALTER asked_by SET DEFAULT nullif(current_setting('punctual.actor', TRUE), '')
"""

# A new column goes to the end of the view; rights stay. The view's options have to be repeated.
VIEW = """
DO $$
DECLARE
    ours text := (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
                  WHERE attrelid = 'punctual_any_task'::regclass AND attnum > 0 AND NOT attisdropped
                    AND attname <> 'asked_by');
    live text := replace(replace(ours, 'retention', 'NULL::varchar(20) COLLATE "C" AS retention'),
                         'worker', 'NULL::varchar(200) AS worker');
BEGIN
    EXECUTE format('{change} punctual_any_task WITH (security_invoker = true) AS
        SELECT %s{column} FROM punctual_task UNION ALL SELECT %s{column} FROM punctual_past', live, ours);
END $$
"""


def view(change: str, column: str) -> str:
    return VIEW.replace("{change}", change).replace("{column}", column)


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0096_asked_by_of_the_past")]

    operations = [
        migrations.AddField("scheduletask", "asked_by", models.CharField(max_length=150, null=True, help_text=HELP)),
        migrations.RunSQL(DEFAULT, migrations.RunSQL.noop),
        # A column can be added to the end of a view, but not taken away from it.
        migrations.RunSQL(
            view("CREATE OR REPLACE VIEW", ", asked_by"),
            view("DROP VIEW punctual_any_task; CREATE VIEW", ""),
        ),
    ]
