"""The shop's URLconf, with the one line of Punctual's page."""

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path, reverse

from tests.support.testapp.models import Counter


@admin.register(Counter, site=admin.site)
class CounterAdmin(admin.ModelAdmin):
    list_display = ["name", "value"]
    search_fields = ["name"]
    list_filter = ["value"]


def front(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"{reverse('admin:index')} {request.user.is_authenticated}")


urlpatterns = [path("", front), path("admin/", admin.site.urls)]
if settings.PUNCTUAL_PARTS:
    urlpatterns += [path("ops/punctual/", include("django_punctual.urls"))]
