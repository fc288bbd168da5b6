"""Room on an article's page for its next version, and a history that can only grow."""

from django.db import migrations

SET = """
ALTER TABLE article SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

CREATE FUNCTION article_event_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'article_event is append-only: % is refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER article_event_only_grows BEFORE UPDATE OR DELETE ON article_event
    FOR EACH STATEMENT EXECUTE FUNCTION article_event_only_grows();
"""
RESET = """
DROP TRIGGER article_event_only_grows ON article_event;
DROP FUNCTION article_event_only_grows();
ALTER TABLE article RESET (fillfactor, autovacuum_vacuum_scale_factor);
"""


class Migration(migrations.Migration):
    dependencies = [("articles_app", "0001_initial")]
    operations = [migrations.RunSQL(SET, RESET)]
