from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from tasks_app.api import api

handler400 = "scheduler_project.web.bad_request"
handler404 = "scheduler_project.web.not_found"
urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("", include("tasks_app.metrics.urls")),
]
