"""The pages about products and their stock. Every write goes through inventory_app.lifecycle."""

from .products import ProductAdmin

__all__ = ["ProductAdmin"]
