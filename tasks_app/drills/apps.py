from django.apps import AppConfig


class DrillsConfig(AppConfig):
    """Installed in the stack of a drill alone, for its handlers and its subscriber."""

    name = "tasks_app.drills"
    label = "punctual_drills"
