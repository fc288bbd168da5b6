"""The history of articles can't be emptied either: TRUNCATE passes by triggers on UPDATE and DELETE."""

from django.db import migrations

SET = """
CREATE TRIGGER article_event_not_truncated BEFORE TRUNCATE ON article_event
    FOR EACH STATEMENT EXECUTE FUNCTION article_event_only_grows();
"""
RESET = "DROP TRIGGER article_event_not_truncated ON article_event;"


class Migration(migrations.Migration):
    dependencies = [("articles_app", "0005_creations")]
    operations = [migrations.RunSQL(SET, RESET)]
