"""URLs whose module is imported when a request or a link first needs one of them.

A URLconf is loaded by more than web processes: `manage.py check` walks through it, and a command or a handler that
makes one link of the project searches it.
"""

from typing import Any

from django.urls import ResolverMatch, URLResolver
from django.urls.resolvers import RoutePattern


class UrlsOnRequest(URLResolver):
    """An include of a namespace. To the rest of the URLconf it is one without patterns, in which the namespace lies."""

    def __init__(self, route: str, module: str, *, app_name: str, namespace: str) -> None:
        super().__init__(RoutePattern(route), [], namespace=namespace)
        self._real = URLResolver(RoutePattern(route), module, app_name=app_name, namespace=namespace)

    def resolve(self, path: str) -> ResolverMatch:
        return self._real.resolve(path)

    @property
    def namespace_dict(self) -> dict[str, Any]:
        return {self._real.namespace: ("", self._real)}

    @property
    def app_dict(self) -> dict[str, Any]:
        return {self._real.app_name: [self._real.namespace]}
