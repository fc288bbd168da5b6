"""Answers to keyed requests, byte for byte."""
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0094_downtimes'),
    ]

    operations = [
        migrations.AddField(
            model_name='idempotencyrecord',
            name='body',
            field=models.TextField(help_text='Of the answer, byte for byte; empty: it has none.', null=True),
        ),
    ]
