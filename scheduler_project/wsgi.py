import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
application = get_wsgi_application()

from scheduler_project.web import limit_statements  # noqa: E402 - it needs the settings

limit_statements()
