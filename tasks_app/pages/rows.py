"""The rows of Django's lists, filled into one pattern for the whole page.

django-unfold works out the headers of all columns again for every row, and renders a template for each checkbox and
label: 3 ms a row.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import display_for_field, quote
from django.db.models import Model
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from unfold.admin import checkbox
from unfold.templatetags.unfold_list import CHECKBOX_CLASSES, LINK_CLASSES, ROW_CLASSES, result_headers
from unfold.utils import display_for_label
from unfold.views import ChangeList

TEMPLATE = "tasks_app/list.html"
_CHECKBOX = "action_checkbox"
_ID = "punctual-id"


class QuickList(ChangeList):
    """For ModelAdmins whose `change_list_template` is TEMPLATE. A column is a method of the ModelAdmin, which may have
    a `label` of unfold's, or a plain field; the first one leads to the row's page."""

    @cached_property
    def headers(self) -> list[dict[str, Any]]:
        return list(result_headers(self))

    @property
    def sorted_by(self) -> int:
        return sum(bool(one.get("sorted")) for one in self.headers)

    def rows(self) -> Iterator[SafeString]:
        """The cells of each."""
        pattern, columns = self._pattern(), [self._column(name) for name in self.list_display if name != _CHECKBOX]
        for row in self.result_list:
            yield format_html(pattern, *(column(row) for column in columns), id=row.pk, quoted=quote(row.pk))

    def _pattern(self) -> str:
        cells = []
        for name, header in zip(self.list_display, self.headers, strict=True):
            if name == _CHECKBOX:
                box = _literal(checkbox.render(ACTION_CHECKBOX_NAME, _ID)).replace(_ID, "{id}")
                label = _literal(gettext("Select record"))
                cells.append(f'<td class="{" ".join(CHECKBOX_CLASSES)}" data-label="{label}">{box}</td>')
                continue
            opened = f'class="field-{name} {" ".join(ROW_CLASSES)}" data-label="{_literal(header["text"])}"'
            if name == next(one for one in self.list_display if one != _CHECKBOX):
                cells.append(f"<th {opened}>{self._link()}</th>")
            else:
                cells.append(f"<td {opened}>{{}}</td>")
        return "".join(cells)

    def _link(self) -> str:
        name = f"{self.opts.app_label}_{self.opts.model_name}_changelist"
        where = reverse(f"admin:{name}", current_app=self.model_admin.admin_site.name)
        kept = f"?{self.preserved_filters}" if self.preserved_filters else ""
        classes = " ".join(LINK_CLASSES)
        return f'<a href="{_literal(where)}{{quoted}}/change/{_literal(kept)}" class="{classes}">{{}}</a>'

    def _column(self, name: str) -> Callable[[Model], object]:
        shown: Callable[[Model], object] | None = getattr(self.model_admin, name, None)
        if shown is None:
            field, empty = self.opts.get_field(name), self.model_admin.get_empty_value_display()
            return lambda row: display_for_field(getattr(row, name), field, empty)
        label = getattr(shown, "label", None)
        if label is None:
            return shown
        labelled = cache(lambda value: display_for_label(value, "", label))
        return lambda row: labelled(shown(row))


def _literal(text: object) -> str:
    """As a part of the pattern that nothing is filled into."""
    return str(conditional_escape(text)).replace("{", "{{").replace("}", "}}")
