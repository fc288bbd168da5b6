"""The pages about products and their stock. Every write goes through inventory_app.lifecycle."""

from django.utils.translation import gettext_lazy

from django_punctual.pages import PLACES, Place, answers

from .products import ProductAdmin

__all__ = ["ProductAdmin"]

answers("inventory_app_", "stock.md")
PLACES.append(
    Place(
        "inventory_app_coverage",
        gettext_lazy("Coverage of products"),
        lambda request: request.user.has_perm("inventory_app.view_product"),
    )
)
