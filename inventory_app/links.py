"""The way from a product's task to the product, for people who look at tasks."""

from django.contrib.admin.templatetags.admin_urls import admin_urlquote
from django.urls import reverse

from django_punctual import Link, register_link

from .units import STOCK_SYNC


def product_link(key: str) -> Link:
    return Link(reverse("admin:inventory_app_product_change", args=[admin_urlquote(key)]), f"Product {key}")


register_link(STOCK_SYNC, product_link)
