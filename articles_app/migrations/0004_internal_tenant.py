from django.db import migrations

from tasks_app.migrations._tenants import move_to_internal


class Migration(migrations.Migration):
    atomic = False  # in steps, each committed by itself

    dependencies = [("articles_app", "0003_editors"), ("tasks_app", "0015_internal_tenant")]

    operations = [
        move_to_internal("ARTICLE_AUDIT", "ARTICLE_PUBLISH", "ARTICLE_OFFLINE", events=["PUBLISH_TIME_CHANGED"]),
    ]
