import os
from importlib import import_module

from tasks_app.core.memory import loading

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")

with loading():
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application

    application = get_wsgi_application()
    import_module(settings.ROOT_URLCONF)  # the first request would

    from scheduler_project.web import limit_statements  # it needs the settings

    limit_statements()
