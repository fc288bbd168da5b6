"""What the database takes for now."""

from datetime import datetime, timedelta

from django.db import connection

MINUTE = timedelta(minutes=1)


def now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def execute(statement: str, params: object = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
