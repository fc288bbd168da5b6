"""Up to when a schedule was not planned."""
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0093_stalls'),
    ]

    operations = [
        migrations.AddField(
            model_name='jobcursor',
            name='down_until',
            field=models.DateTimeField(help_text='Firings up to this instant passed in a downtime: a job catches up on them as it says.', null=True),
        ),
    ]
