"""How times look in the admin: with seconds, and in an order that sorts."""

DATETIME_FORMAT = "Y-m-d H:i:s"
DATE_FORMAT = "Y-m-d"
