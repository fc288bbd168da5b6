"""The page of the sites is one of its own: a name for the row that it shows, and no change in the database."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0061_tenant_jobs")]

    operations = [
        migrations.CreateModel(
            name="Site",
            fields=[],
            options={
                "verbose_name_plural": "sites",
                "default_permissions": (),
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("tasks_app.installation",),
        ),
    ]
