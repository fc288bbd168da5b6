"""The type of a product's rolling task, whose it is, and who acts when it is not a person."""

from django_punctual import INTERNAL_TENANT

TENANT = INTERNAL_TENANT
STOCK_SYNC = "STOCK_SYNC"  # key: the product's code

INVENTORY = "inventory"
COMPENSATION = "compensation"
