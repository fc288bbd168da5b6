"""What the calendar and the list in order of publish times read by; and who may approve and reject by hand."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # an index that keeps nobody from writing can't be made in a transaction

    dependencies = [("articles_app", "0006_history_not_truncated")]

    operations = [
        AddIndexConcurrently(
            "article", models.Index(fields=["publish_time", "id"], name="article_publish_time")
        ),
        migrations.AlterModelOptions(
            name="article", options={"permissions": [("audit_article", "Can approve and reject articles")]}
        ),
    ]
