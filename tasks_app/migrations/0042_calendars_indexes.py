"""The calendar is part of what makes a schedule: the indexes of jobs and cursors, made while everybody goes on."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

NAME = "punctual_job_cursor_schedule"
BEFORE = ["cron", "every", "phase", "timezone", "dst_gap", "dst_repeat", "shard"]
AFTER = [*BEFORE[:-1], "calendar", "on_day_off", "shard"]

# On the way back, jobs fire on any day: schedules that differ in their calendars alone become one, which is planned as
# far as the one of them that is planned least.
WITHOUT_CALENDARS = """
UPDATE punctual_job SET calendar = NULL WHERE calendar IS NOT NULL;
CREATE TEMPORARY TABLE punctual_same ON COMMIT DROP AS
    SELECT id, min(id) OVER same AS kept, min(next_fire) OVER same AS next_fire, max(calendar) OVER same AS calendar
    FROM punctual_job_cursor
    WINDOW same AS (PARTITION BY cron, every, phase, timezone, dst_gap, dst_repeat, shard);
UPDATE punctual_job j SET cursor = s.kept FROM punctual_same s WHERE s.calendar > 0 AND j.cursor = s.id AND s.id <> s.kept;
DELETE FROM punctual_job_cursor c USING punctual_same s WHERE s.calendar > 0 AND c.id = s.id AND s.id <> s.kept;
UPDATE punctual_job_cursor c SET calendar = 0, on_day_off = 'skip', next_fire = s.next_fire, after_job = 0
FROM punctual_same s WHERE s.calendar > 0 AND c.id = s.id;
"""


def unique(fields: list[str]) -> str:
    """A new index first, without a lock; then it takes the place of the old one in a moment."""
    return f"CREATE UNIQUE INDEX CONCURRENTLY {NAME}_new ON punctual_job_cursor ({', '.join(fields)})"


TAKE_ITS_PLACE = (
    f"ALTER TABLE punctual_job_cursor DROP CONSTRAINT {NAME}, ADD CONSTRAINT {NAME} UNIQUE USING INDEX {NAME}_new"
)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("tasks_app", "0042_calendars")]

    operations = [
        # If building one was interrupted, PostgreSQL has left an index that is not valid: it goes first.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS punctual_job_calendar", migrations.RunSQL.noop),
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS punctual_job_cursor_calendar", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "jobdefinition",
            models.Index(
                condition=models.Q(("calendar__isnull", False)),
                fields=["calendar", "id"],
                name="punctual_job_calendar",
            ),
        ),
        AddIndexConcurrently(
            "jobcursor",
            models.Index(
                condition=models.Q(("calendar__gt", 0)), fields=["calendar", "id"], name="punctual_job_cursor_calendar"
            ),
        ),
        # What is second here is first on the way back, and the other way round.
        migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}_new", TAKE_ITS_PLACE),
        migrations.RunSQL(unique(AFTER), unique(BEFORE)),
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(TAKE_ITS_PLACE, f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}_new")],
            [
                migrations.RemoveConstraint("jobcursor", NAME),
                migrations.AddConstraint("jobcursor", models.UniqueConstraint(fields=AFTER, name=NAME)),
            ],
        ),
        migrations.RunSQL(migrations.RunSQL.noop, WITHOUT_CALENDARS),
    ]
