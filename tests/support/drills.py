"""The result of a drill, as `manage.py drill` keeps it."""


def run(drill: str = "worker", **other: object) -> dict:
    return {
        "drill": drill,
        "at": "2026-11-01T04:00:00+00:00",
        "rto_s": 31.0,
        "rpo_s": 0.0,
        "rpo_limit_s": 0.0,
        "lost": 0,
        "events_lost": 0,
        "duplicates": 0,
        "limit_s": 45.0,
        "since": "the kill",
        "tasks": 10_000,
        "rate": 50.0,
        "met": True,
        "missed": [],
        **other,
    }
