"""For INSTALLED_APPS: the scripts of the REST API's page."""

from tasks_app.api_page import ApiPageConfig

__all__ = ["ApiPageConfig"]
