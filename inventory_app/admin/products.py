"""The list of products and the page of one: quantity, age, last outcome, next sync; add, rename, remove, sync now."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext
from unfold.admin import ModelAdmin
from unfold.decorators import display

from django_punctual import InvalidTask, TaskInfo, find, find_many
from django_punctual.pages import COUNTED, TEMPLATE, BoundedPaginator, CantShow, OwnLookups, QuickList, RowsTogether
from django_punctual.rolling import failing_keys
from inventory_app import lifecycle
from inventory_app.errors import InvalidProduct, StockError, UnknownProduct
from inventory_app.lifecycle.products import SYNC_NOW_MOST, checked
from inventory_app.models import CODE_LENGTH, LOCK_ORDER, NAME_LENGTH, Product
from inventory_app.units import STOCK_SYNC

from .coverage import coverage_page
from .window import window_page
from .words import CAUSES, TONES, age, next_sync, outcome

FAILING = "failing"  # or failing:CODE
DELETE = "delete_selected"
REMOVE_MOST = 1_000
FEW = 1_000  # finds by name; where there are more, the first page of them is soon found anyway


class ShowFilter(admin.SimpleListFilter):
    """One question at a time; shown as a row of links above the list, and a second one for the causes of failures."""

    title, parameter_name = gettext_lazy("what to show"), "show"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [
            ("never", gettext("Never synced")),
            ("late", gettext("Older than the window")),
            ("oldest", gettext("Oldest first")),
            (FAILING, gettext("Failing")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        match (self.value() or "").split(":", 1):
            case ["never"]:
                return queryset.filter(stock_synced_at=None)
            case ["late"]:
                window = lifecycle.current_window().length
                return queryset.filter(stock_synced_at__lt=timezone.now() - window)
            case [shown, *cause] if shown == FAILING:
                return queryset.filter(product_code__in=_failing(*cause))
            case ["" | "oldest"]:
                return queryset
        raise CantShow(gettext("it can't show {value!r}.").format(value=self.value()[:40]))

    def causes(self) -> list[tuple[str, str]]:
        if (self.value() or "").split(":", 1)[0] != FAILING:
            return []
        return [(FAILING, gettext("By any cause")), *((f"{FAILING}:{code}", words) for code, words in CAUSES.items())]


def _failing(cause: str | None = None) -> list[str]:
    try:
        return failing_keys(STOCK_SYNC, cause, most=COUNTED)
    except InvalidTask:
        return []  # no failure has such a code


def _named(queryset: QuerySet, term: str) -> QuerySet:
    """Every name has to be read for a part of one, so few finds are kept: to count and to list them reads no name."""
    named = queryset.filter(name__icontains=term)
    codes = list(named.order_by().values_list("product_code", flat=True)[: FEW + 1])
    return named if len(codes) > FEW else queryset.filter(product_code__in=codes)


class ProductList(RowsTogether, QuickList):
    def get_ordering(self, request: HttpRequest, queryset: QuerySet) -> list[Any]:
        if not self.params.get("o") and request.GET.get("show") in ("late", "oldest"):
            return [F("stock_synced_at").asc(nulls_first=True), "product_code"]
        ordering: list[Any] = super().get_ordering(request, queryset)
        return ordering

    def read(self, request: HttpRequest, rows: list[Product], found: int) -> None:
        """The tasks of all rows of the page with one statement."""
        self.is_more = found == COUNTED
        tasks = find_many([STOCK_SYNC], [product.product_code for product in rows])
        for product in rows:
            product.task, product.now = tasks.get((STOCK_SYNC, product.product_code)), timezone.now()


class ProductForm(forms.ModelForm):
    class Meta:
        model = Product
        fields = ["product_code", "name"]

    def clean_product_code(self) -> str:
        return self._checked("code", self.cleaned_data["product_code"], CODE_LENGTH)

    def clean_name(self) -> str:
        return self._checked("name", self.cleaned_data["name"], NAME_LENGTH)

    def _checked(self, name: str, value: str, longest: int) -> str:
        try:
            return checked(name, value, longest)
        except InvalidProduct as error:
            raise ValidationError(str(error)) from None


@admin.register(Product)
class ProductAdmin(OwnLookups, ModelAdmin):
    form = ProductForm
    list_display = ["product_code", "name", "stock_quantity", "aged", "last_outcome", "next"]
    list_filter = [ShowFilter]
    list_per_page = 50
    sortable_by = ["product_code"]  # what else could be sorted by has no index, and a million rows
    change_list_template = TEMPLATE
    list_before_template = "inventory_app/list_before.html"
    search_fields = ["product_code"]
    search_help_text = gettext_lazy("The beginning of a code, or part of a name")
    show_full_result_count = False
    ordering = ["product_code"]
    paginator = BoundedPaginator
    actions = ["sync_now", DELETE]

    class Media:
        css = {"all": ["tasks_app/operator.css"]}

    # Columns

    @admin.display(description=gettext_lazy("Stock as of"), ordering="stock_synced_at")
    def aged(self, product: Product) -> SafeString:
        when = product.stock_synced_at.isoformat(timespec="seconds") if product.stock_synced_at else ""
        return format_html('<span title="{}">{}</span>', when, age(product.stock_synced_at, _now(product)))

    @display(description=gettext_lazy("Last sync"), label={tone: tone for tone in TONES})
    def last_outcome(self, product: Product) -> tuple[str, str]:
        words, tone = outcome(_task(product))
        return tone, words

    @admin.display(description=gettext_lazy("Last sync"))
    def outcome_words(self, product: Product) -> str:
        return outcome(_task(product))[0]

    @admin.display(description=gettext_lazy("Next sync"))
    def next(self, product: Product) -> str:
        return next_sync(_task(product), _now(product))

    @admin.display(description=gettext_lazy("Remark"))
    def remark(self, product: Product) -> str:
        task = _task(product)
        return (task.error_msg if task else "") or "–"

    # The list

    def get_changelist(self, request: HttpRequest, **options: object) -> type[ProductList]:
        return ProductList

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, term: str) -> tuple[QuerySet, bool]:
        term = term.strip().replace("\0", "")
        if not term:
            return queryset, False
        by_code = queryset.filter(product_code__startswith=term)
        return (by_code if by_code.exists() else _named(queryset, term)), False

    @admin.action(description=gettext_lazy("Sync now"), permissions=["change"])
    def sync_now(self, request: HttpRequest, queryset: QuerySet) -> None:
        codes = list(queryset.values_list("product_code", flat=True)[: SYNC_NOW_MOST + 1])
        try:
            scheduled = lifecycle.sync_now(codes, actor=request.user.get_username())
        except StockError as error:
            messages.error(request, str(error))
            return
        running = len(codes) - scheduled
        said = ngettext(
            "{count:,} product will be synced now, at the allowed rate.",
            "{count:,} products will be synced now, at the allowed rate.",
            scheduled,
        ).format(count=scheduled)
        if running:
            words = ngettext("{count:,} is already being synced.", "{count:,} are already being synced.", running)
            said += " " + words.format(count=running)
        messages.success(request, said)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions: dict[str, Any] = super().get_actions(request)
        if DELETE in actions:
            delete, _, _ = actions[DELETE]
            few = partial(_delete_few, delete)
            actions[DELETE] = few, DELETE, gettext_lazy("Delete selected products")
        return actions

    # One product

    def get_fields(self, request: HttpRequest, obj: Product | None = None) -> list[str]:
        known = ["stock_quantity", "aged", "outcome_words", "remark", "next"] if obj else []
        return ["product_code", "name", *known]

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> list[str]:
        return ["stock_quantity", "aged", "outcome_words", "remark", "next", "product_code"] if obj else []

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Product | None:
        return None if "\0" in object_id else super().get_object(request, object_id, from_field)

    def changeform_view(self, request: HttpRequest, *args: object, **options: object) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **options)
        except StockError as error:  # somebody else has added or removed it a moment ago
            messages.error(request, gettext("Nothing was changed: {error}").format(error=error))
            return HttpResponseRedirect(reverse("admin:inventory_app_product_changelist"))

    def save_model(self, request: HttpRequest, obj: Product, form: ProductForm, change: bool) -> None:
        if change:
            lifecycle.rename(obj.product_code, obj.name)
        else:
            lifecycle.add(obj.product_code, obj.name)

    def delete_model(self, request: HttpRequest, obj: Product) -> None:
        with suppress(UnknownProduct):  # somebody else has removed it a moment ago: it is gone, as it should be
            lifecycle.remove(obj.product_code, actor=request.user.get_username())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet) -> None:
        for product in queryset.order_by(*LOCK_ORDER):
            self.delete_model(request, product)

    # The other pages

    def get_urls(self) -> list[Any]:
        def page(
            view: Callable[[HttpRequest, ModelAdmin], HttpResponse], allowed: Callable[[HttpRequest], bool]
        ) -> Callable[..., HttpResponse]:
            def guarded(request: HttpRequest) -> HttpResponse:
                if not allowed(request):
                    raise PermissionDenied
                return view(request, self)

            shown: Callable[..., HttpResponse] = self.admin_site.admin_view(guarded)
            return shown

        coverage = page(coverage_page, self.has_view_permission)
        window = page(window_page, self.has_change_permission)
        return [
            path("coverage/", coverage, name="inventory_app_coverage"),
            path("window/", window, name="inventory_app_window"),
            *super().get_urls(),
        ]


def _delete_few(
    delete: Callable[..., HttpResponse | None], model_admin: ModelAdmin, request: HttpRequest, queryset: QuerySet
) -> HttpResponse | None:
    """Django's own action, for a number that it can list and a request can carry out."""
    if queryset.order_by()[: REMOVE_MOST + 1].count() > REMOVE_MOST:
        messages.error(
            request,
            gettext("Nothing was deleted: at most {remove_most:,} products can be deleted at once.").format(
                remove_most=REMOVE_MOST
            ),
        )
        return None
    return delete(model_admin, request, queryset)


def _task(product: Product) -> TaskInfo | None:
    """Read for all rows of a list together; on a page of its own, for this one."""
    if not hasattr(product, "task"):
        product.task = find(STOCK_SYNC, product.product_code)
    task: TaskInfo | None = product.task
    return task


def _now(product: Product) -> datetime:
    now: datetime = getattr(product, "now", None) or timezone.now()
    return now
