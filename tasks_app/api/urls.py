"""The REST API, for `UrlsOnRequest`."""

from . import api

urlpatterns = api.urls[0]
