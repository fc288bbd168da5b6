"""The task types of an article and whose they are; its id is the key, so a unit is (tenant, type, article id)."""

from django_punctual import INTERNAL_TENANT

TENANT = INTERNAL_TENANT
AUDIT = "ARTICLE_AUDIT"
PUBLISH = "ARTICLE_PUBLISH"
OFFLINE = "ARTICLE_OFFLINE"

# Who the events name when no person did it.
SCHEDULER = "scheduler"
MODERATION = "moderation"
