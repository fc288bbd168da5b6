"""A database that does not take every task."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def refusing(times: int) -> Iterator[None]:
    """So many inserts of unit "a" do nothing: what it looks like if others insert and finish it each time."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            CREATE SEQUENCE refused;
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN IF nextval(''refused'') > {times} THEN RETURN NEW; END IF; RETURN NULL; END';
            CREATE TRIGGER refuse BEFORE INSERT ON punctual_task FOR EACH ROW
                WHEN (NEW.biz_key = 'a') EXECUTE FUNCTION refuse()"""
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER refuse ON punctual_task; DROP FUNCTION refuse(); DROP SEQUENCE refused")
