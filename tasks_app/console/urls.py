"""The console beside the project's own admin, for `UrlsOnRequest`."""

from .site import console

urlpatterns = console().get_urls()
