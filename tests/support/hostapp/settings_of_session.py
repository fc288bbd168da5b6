from django.db import connections

SHOWN = ("lock_timeout", "idle_in_transaction_session_timeout", "plan_cache_mode", "application_name")


def settings_of_session(alias: str) -> dict[str, str]:
    with connections[alias].cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT current_setting('{name}')" for name in SHOWN))
        return dict(zip(SHOWN, [value for (value,) in cursor.fetchall()], strict=True))
