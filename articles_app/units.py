"""The task types of an article; its id is the key, so a unit is (type, article id)."""

AUDIT = "ARTICLE_AUDIT"
PUBLISH = "ARTICLE_PUBLISH"
OFFLINE = "ARTICLE_OFFLINE"

# Who the events name when no person did it.
SCHEDULER = "scheduler"
MODERATION = "moderation"
