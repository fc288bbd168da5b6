"""What leaves for the archive: a note for each partition, and the one way to drop it, which looks at what is in it."""

import django.contrib.postgres.fields
import django.contrib.postgres.functions
from django.db import migrations, models

# The rows of a partition as three numbers that whoever reads the archive can add up, too, part by part: how many, and of
# their keys the sum and the sum of the squares. Exactly these rows are in the archive, or the partition stays.
FUNCTIONS = """
SELECT set_config('punctual.path', current_setting('search_path'), TRUE),
       set_config('search_path', relnamespace::regnamespace || ', pg_temp', TRUE)
FROM pg_class WHERE oid = 'punctual_task'::regclass;

CREATE FUNCTION punctual_tally(part regclass, key text, OUT number bigint, OUT total numeric, OUT squares numeric)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    moment bool := (SELECT atttypid = 'timestamptz'::regtype FROM pg_attribute WHERE attrelid = part AND attname = key);
BEGIN
    EXECUTE format('SELECT count(*), coalesce(sum(v), 0) %% 18446744073709551616,
                           coalesce(sum((v %% 2147483647) * (v %% 2147483647)), 0) %% 18446744073709551616
                    FROM (SELECT ' || CASE WHEN moment THEN '(extract(epoch FROM %I) * 1000000)::bigint' ELSE '%I' END
                   || ' AS v FROM %s) AS one', key, part) INTO number, total, squares;
END $$;

-- While it counts nothing can be added: only who moves what is long over would wait for that, and no reader.
CREATE FUNCTION punctual_drop_archived(family regclass, name text, key text, number bigint, total numeric, squares numeric)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '2s' AS $$
BEGIN
    IF NOT starts_with(family::text, 'punctual_')
       OR NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(name) AND inhparent = family) THEN
        RAISE EXCEPTION '% is no partition of %', name, family;
    END IF;
    EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', name);
    IF NOT EXISTS (SELECT FROM punctual_tally(to_regclass(name), key) AS t
                   WHERE (t.number, t.total, t.squares) = ($4, $5, $6)) THEN
        RETURN FALSE;
    END IF;
    PERFORM punctual_drop_partition(family, name);  -- with what it refuses, and as impatient
    RETURN TRUE;
END $$;

REVOKE EXECUTE ON FUNCTION punctual_drop_archived(regclass, text, text, bigint, numeric, numeric) FROM PUBLIC;
-- Whoever may drop a partition may do it this way.
DO $$
DECLARE
    one text;
BEGIN
    FOR one IN
        SELECT pg_get_userbyid(a.grantee)
        FROM pg_proc p CROSS JOIN LATERAL aclexplode(p.proacl) a
        WHERE p.oid = 'punctual_drop_partition(regclass, text)'::regprocedure AND a.grantee NOT IN (0, p.proowner)
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION
            punctual_drop_archived(regclass, text, text, bigint, numeric, numeric) TO %I', one);
    END LOOP;
END $$;
SELECT set_config('search_path', current_setting('punctual.path'), TRUE);
"""
DROP_FUNCTIONS = """
DROP FUNCTION punctual_drop_archived(regclass, text, text, bigint, numeric, numeric);
DROP FUNCTION punctual_tally(regclass, text);
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0026_storage")]

    operations = [
        migrations.CreateModel(
            name="LeavingPartition",
            fields=[
                ("name", models.CharField(db_collation="C", max_length=63, primary_key=True, serialize=False)),
                ("oid", models.BigIntegerField(help_text="Of the table that had the name when this was written.")),
                (
                    "mark",
                    models.UUIDField(
                        db_default=django.contrib.postgres.functions.RandomUUID(),
                        help_text="Its files in the archive begin with it.",
                    ),
                ),
                (
                    "fence",
                    models.IntegerField(
                        db_default=0, help_text="Goes up with each try: who has an older one may not drop it."
                    ),
                ),
                ("holder", models.CharField(db_default="", max_length=200)),
                ("held_until", models.DateTimeField(help_text="Somebody writes it; the lease.", null=True)),
                ("waiting_since", models.DateTimeField(help_text="When it was first tried.", null=True)),
                ("error", models.TextField(db_default="", help_text="Of the last try, if that failed.")),
                ("kept_until", models.DateTimeField(help_text="It was restored, and stays until then.", null=True)),
                (
                    "restored",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        db_default=[],
                        help_text="The files whose rows were restored into it.",
                        size=None,
                    ),
                ),
            ],
            options={"db_table": "punctual_leaving", "default_permissions": ()},
        ),
        migrations.RunSQL(FUNCTIONS, DROP_FUNCTIONS),
    ]
