-- status_hours: the figures of the hours from a time on, as they were rolled up.
SELECT hour, ok, failed, lateness FROM punctual_hour_figures WHERE hour >= %(since)s ORDER BY hour
