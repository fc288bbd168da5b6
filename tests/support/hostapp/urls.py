from django.http import HttpRequest, JsonResponse
from django.urls import include, path

from django_punctual import schedule
from tests.support.hostapp.models import Order
from tests.support.hostapp.settings_of_session import settings_of_session


def order(request: HttpRequest, name: str) -> JsonResponse:
    """A view of the project's: both its row and its task are there only if it ends well (ATOMIC_REQUESTS)."""
    Order.objects.create(name=name)
    scheduled = schedule("HOST_LOOK", name)
    if "fail" in request.GET:
        raise RuntimeError("asked to fail")
    return JsonResponse({"task": scheduled.task_id, "tasks": settings_of_session("tasks")})


urlpatterns = [
    path("order/<name>", order),
    path("punctual/", include("django_punctual.urls")),
]
