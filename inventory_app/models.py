"""Products with the stock that another system has of them, and the window in which each is synced again."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length, Now

CODE_LENGTH = 200  # of a task's key
NAME_LENGTH = 200
MOST = 2**63 - 1
# In which rows are locked: as the scheduler applies the answers of a batch, so that nobody deadlocks with it.
LOCK_ORDER = (Length("product_code"), "product_code")


class Product(models.Model):
    """Added and removed by inventory_app.lifecycle; its stock is written by the handler of its rolling task."""

    product_code: str = models.CharField("code", max_length=CODE_LENGTH, primary_key=True, db_collation="C")
    name = models.CharField(max_length=NAME_LENGTH)
    stock_quantity = models.BigIntegerField("quantity", null=True, help_text="Empty: never synced.")
    stock_synced_at = models.DateTimeField(
        "synced at", null=True, help_text="When the stock system was asked for this quantity."
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "product"
        indexes = [
            # By which the oldest are found; those never synced come first.
            models.Index(F("stock_synced_at").asc(nulls_first=True), "product_code", name="product_synced")
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(stock_quantity__isnull=True) | Q(stock_quantity__gte=0), name="product_quantity"
            ),
            models.CheckConstraint(
                condition=Q(stock_quantity__isnull=False) | Q(stock_synced_at__isnull=True),
                name="product_synced_is_known",
            ),
        ]

    def __str__(self) -> str:
        return self.product_code


class SyncWindow(models.Model):
    """One row: the window that somebody has chosen, and the one by which the tasks roll already."""

    chosen = models.DurationField(null=True, help_text="Empty: what the settings say.")
    applied = models.DurationField(null=True, help_text="What all tasks roll by; another one: some don't yet.")
    changed_by = models.CharField(max_length=150, db_default="")
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "sync_window"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.chosen or 'by the settings'}"


class CoverageHour(models.Model):
    """How much of the catalogue was fresh when an hour began, or soon after."""

    hour = models.DateTimeField(primary_key=True)
    products = models.BigIntegerField()
    fresh = models.BigIntegerField(help_text="Synced within the window.")
    never = models.BigIntegerField(help_text="Never synced.")
    length = models.DurationField(help_text="Of the window.")

    class Meta:
        db_table = "coverage_hour"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H:%M}"

    @property
    def share(self) -> float:
        return self.fresh / self.products if self.products else 1.0
