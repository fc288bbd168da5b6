"""Parts of admin pages: lists, charts, help, and forms that survive a login that has expired."""

from typing import TYPE_CHECKING

from ._later import attributes_of

if TYPE_CHECKING:
    from tasks_app.pages.charts import Chart, Series, bars
    from tasks_app.pages.help import PLACES, Place, answers
    from tasks_app.pages.lists import (
        COUNTED,
        SHOWN,
        BoundedPaginator,
        CantShow,
        OwnLookups,
        RowsTogether,
        refuse_unknown,
    )
    from tasks_app.pages.names import translate_names
    from tasks_app.pages.rows import TEMPLATE, QuickList
    from tasks_app.pages.saved import LISTS, FilteredList
    from tasks_app.pages.typed import take_back

__all__ = [
    "COUNTED",
    "LISTS",
    "PLACES",
    "SHOWN",
    "TEMPLATE",
    "BoundedPaginator",
    "CantShow",
    "Chart",
    "FilteredList",
    "OwnLookups",
    "Place",
    "QuickList",
    "RowsTogether",
    "Series",
    "answers",
    "bars",
    "refuse_unknown",
    "take_back",
    "translate_names",
]

__getattr__ = attributes_of(
    __name__,
    {
        "tasks_app.pages.charts": ("Chart", "Series", "bars"),
        "tasks_app.pages.help": ("PLACES", "Place", "answers"),
        "tasks_app.pages.lists": (
            "COUNTED",
            "SHOWN",
            "BoundedPaginator",
            "CantShow",
            "OwnLookups",
            "RowsTogether",
            "refuse_unknown",
        ),
        "tasks_app.pages.names": ("translate_names",),
        "tasks_app.pages.rows": ("TEMPLATE", "QuickList"),
        "tasks_app.pages.saved": ("LISTS", "FilteredList"),
        "tasks_app.pages.typed": ("take_back",),
    },
)
