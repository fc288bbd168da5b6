"""Written by `make clients`."""
