"""The type of a product's rolling task, and who acts when it is not a person."""

STOCK_SYNC = "STOCK_SYNC"  # key: the product's code

INVENTORY = "inventory"
COMPENSATION = "compensation"
