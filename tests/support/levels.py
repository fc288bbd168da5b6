"""What was measured of service levels up to a minute, in a line."""

from datetime import datetime

from tasks_app.models import ServiceMinute


def measured(minute: datetime, **columns) -> ServiceMinute:
    given = {"state": "UP", "served": ["default"], "down": [], "lost": [], "paused": [], "up_minutes": 100}
    sums = {"down_minutes": 0, "ok": 0, "failed": 0, "lateness": []}
    return ServiceMinute.objects.create(minute=minute, **given | sums | columns)
