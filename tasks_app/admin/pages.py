"""Counting, without reading a million rows to say "a million"; for the lists of all apps."""

from django.core.paginator import Paginator
from django.utils.functional import cached_property

COUNTED = 10_000


class BoundedPaginator(Paginator):
    """Counts up to 10,000. Nobody turns so many pages; a filter or a search finds what is further back.

    The list that uses it says with `is_more` whether there are more than were counted.
    """

    template_name = "tasks_app/pages.html"

    @cached_property
    def count(self) -> int:
        return self.object_list.order_by()[:COUNTED].count()
