"""What a caller of inventory_app.lifecycle may catch. Whichever it is, nothing was written."""

from django_punctual import InvalidTask, PunctualError


class StockError(PunctualError):
    """Base of what inventory_app raises on purpose."""


class InvalidProduct(StockError, InvalidTask):
    """A code, a name or another input was refused."""


class InvalidStockSettings(StockError, ValueError):
    """STOCK in the settings has a problem."""


class UnknownProduct(StockError, LookupError):
    """There is no product with this code."""


class DuplicateProduct(StockError):
    """There is a product with this code already."""
