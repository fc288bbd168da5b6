"""Which products there are, and when each is synced. A product and its rolling task change in one transaction."""

from .bulk import Imported, NewProduct, import_products
from .products import add, remove, rename, schedule_syncs, sync_now
from .spread import next_sync
from .window import Window, apply_window, change_window, current_window

__all__ = [
    "Imported",
    "NewProduct",
    "Window",
    "add",
    "apply_window",
    "change_window",
    "current_window",
    "import_products",
    "next_sync",
    "remove",
    "rename",
    "schedule_syncs",
    "sync_now",
]
