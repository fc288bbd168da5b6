"""What beats hung on, and what they skip since then."""
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0092_broken_trails'),
    ]

    operations = [
        migrations.CreateModel(
            name='Stall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(db_collation='C', help_text='One of core/at_work.py.', max_length=15)),
                ('place', models.CharField(db_collation='C', help_text='The part of the beat that worked on it.', max_length=32)),
                ('item', models.CharField(db_collation='C', help_text='Its number or name; of a job, its schedule.', max_length=440)),
                ('ends', models.IntegerField(db_default=1, help_text='Beats that ended on it.')),
                ('first_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('last_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('skipped_at', models.DateTimeField(help_text='Since when beats skip it; empty: they do not.', null=True)),
                ('beat', models.CharField(db_default='', help_text='The last of these beats.', max_length=200)),
                ('stack', models.TextField(db_default='', help_text='Of its thread, the innermost call first.')),
            ],
            options={
                'db_table': 'punctual_stall',
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('kind', 'place', 'item'), name='punctual_stall_once')],
            },
        ),
    ]
