"""As a host's own, but that nobody looks for garbage in what is imported: four of them are started."""

import gc
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

gc.disable()
application = get_wsgi_application()
import_module(settings.ROOT_URLCONF)
gc.freeze()
gc.enable()
