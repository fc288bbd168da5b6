"""Calendars that jobs keep, and single firings of jobs that are skipped or moved."""

import uuid

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0041_backfill'),
    ]

    operations = [
        migrations.CreateModel(
            name='Calendar',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tenant', models.CharField(db_collation='C', db_default='default', max_length=63)),
                ('name', models.CharField(db_collation='C', max_length=100)),
                ('revision', models.IntegerField(db_default=1, help_text='Grows with every change; an edit names the one it saw.')),
                ('version', models.UUIDField(default=uuid.uuid4, help_text='Another one with every change.')),
                ('weekdays', django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), default=list, help_text='Off in every week; 1 is Monday.', size=None)),
                ('days_off', models.JSONField(default=dict, help_text='Days off, each with what it is called.')),
                ('working_days', models.JSONField(default=dict, help_text='On these, people work though their weekday is off.')),
                ('changed', models.BooleanField(db_default=False, help_text='Some of what was planned by its days of before is not planned again yet.')),
                ('created_by', models.CharField(db_default='', max_length=150)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'verbose_name': 'calendar',
                'db_table': 'punctual_calendar',
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('changed', True)), fields=['id'], name='punctual_calendar_changed')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'name'), name='punctual_calendar_name')],
            },
        ),
        migrations.CreateModel(
            name='FiringOverride',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.BigIntegerField()),
                ('fire_time', models.DateTimeField(help_text='When it would fire by the schedule; the instance keeps this.')),
                ('moved_to', models.DateTimeField(help_text='When it runs instead; empty: it is skipped.', null=True)),
                ('placed', models.BooleanField(db_default=False, help_text='Moved, and its instance was made.')),
                ('decided_by', models.CharField(max_length=150)),
                ('reason', models.TextField()),
                ('decided_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'punctual_firing_override',
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('job', 'fire_time'), name='punctual_firing_override_one')],
            },
        ),
        migrations.AddField(
            model_name='jobdefinition',
            name='calendar',
            field=models.BigIntegerField(help_text='Whose days off it keeps; empty: it fires on any day.', null=True),
        ),
        migrations.AddField(
            model_name='jobdefinition',
            name='on_day_off',
            field=models.CharField(db_default='skip', max_length=5),
        ),
        migrations.AddField(
            model_name='jobdefinition',
            name='overridden',
            field=models.BooleanField(db_default=False, help_text='Somebody skipped or moved some of its firings: punctual_firing_override.'),
        ),
        migrations.AddField(
            model_name='jobcursor',
            name='calendar',
            field=models.BigIntegerField(db_default=0, help_text='0: none.'),
        ),
        migrations.AddField(
            model_name='jobcursor',
            name='on_day_off',
            field=models.CharField(db_default='skip', max_length=5),
        ),
        migrations.AddField(
            model_name='jobcursor',
            name='calendar_version',
            field=models.UUIDField(help_text='The version of it by which next_fire was computed.', null=True),
        ),
    ]
