"""The console's headers on every answer of ours, the API's and the static files' among them."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from tasks_app.console.policy import headers


def policy_middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Puts the policy on every answer that brings none of its own."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for name, value in headers().items():
            response.headers.setdefault(name, value)
        return response

    return respond
