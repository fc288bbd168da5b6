"""Tenants go into the archive; they have defaults of their own, and quotas for what flows and for their history."""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0067_roles'),
    ]

    operations = [
        migrations.CreateModel(
            name='ScheduleCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tenant', models.CharField(db_collation='C', max_length=63)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('tasks', models.IntegerField()),
            ],
            options={
                'db_table': 'punctual_schedule_count',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='TenantArchive',
            fields=[
                ('tenant', models.CharField(db_collation='C', max_length=63, primary_key=True, serialize=False)),
                ('state', models.CharField(db_collation='C', db_default='RUNNING', max_length=7)),
                ('phase', models.CharField(db_collation='C', db_default='WAIT', max_length=6)),
                ('folder', models.TextField(help_text="Where it lies, below the archive's root.")),
                ('round', models.IntegerField(db_default=1, help_text='Times that all tables were looked through.')),
                ('todo', models.JSONField(db_default=[], help_text='What this phase has left to do: tables, or files.')),
                ('parts', models.JSONField(db_default=[], help_text='The files, each with what was read back from it.')),
                ('in_flight', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), help_text='Transactions that may not know of the last change here; empty: nobody has looked since.', null=True, size=None)),
                ('waits_for', models.TextField(db_default='', help_text='Why it does not go on, in words.')),
                ('exported', models.BigIntegerField(db_default=0, help_text='Rows that are in the archive.')),
                ('removed', models.BigIntegerField(db_default=0, help_text='Rows that were removed here.')),
                ('destroy_key', models.BooleanField(db_default=False, help_text='Its keys are destroyed in the end.')),
                ('error', models.TextField(db_default='', help_text='Of the last try, if that failed.')),
                ('reason', models.TextField(db_default='')),
                ('ordered_by', models.CharField(db_default='', max_length=150)),
                ('ordered_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('holder', models.CharField(db_default='', help_text='The beat that works on it.', max_length=200)),
                ('fence', models.IntegerField(db_default=0, help_text='Grows each time a beat takes it.')),
                ('held_until', models.DateTimeField(help_text='Others leave it to that beat until then.', null=True)),
            ],
            options={
                'db_table': 'punctual_tenant_archive',
                'default_permissions': (),
            },
        ),
        migrations.RemoveConstraint(
            model_name='tenant',
            name='punctual_tenant_state',
        ),
        migrations.RemoveIndex(
            model_name='tenant',
            name='punctual_tenant_guarded',
        ),
        migrations.AddField(
            model_name='tenant',
            name='closed',
            field=models.BooleanField(db_default=False, help_text='It is being archived, or was: nothing new is taken for it.'),
        ),
        migrations.AddField(
            model_name='tenant',
            name='lane',
            field=models.CharField(db_collation='C', db_default='', max_length=8),
        ),
        migrations.AddField(
            model_name='tenant',
            name='max_history_days',
            field=models.IntegerField(help_text='That what is over may be kept.', null=True),
        ),
        migrations.AddField(
            model_name='tenant',
            name='max_running',
            field=models.IntegerField(help_text='Tasks that a worker has, or that are away.', null=True),
        ),
        migrations.AddField(
            model_name='tenant',
            name='retention',
            field=models.CharField(db_collation='C', db_default='', help_text='The class, by its name.', max_length=20),
        ),
        migrations.AddField(
            model_name='tenant',
            name='retry_burst',
            field=models.IntegerField(help_text='Retries that may come at once.', null=True),
        ),
        migrations.AddField(
            model_name='tenant',
            name='retry_share',
            field=models.FloatField(help_text='Of all its tries: retries, at most.', null=True),
        ),
        migrations.AddField(
            model_name='tenant',
            name='schedules_per_second',
            field=models.IntegerField(help_text='New tasks, over some seconds.', null=True),
        ),
        migrations.AlterField(
            model_name='tenant',
            name='reason',
            field=models.TextField(db_default='', help_text='Why it is suspended, or was archived.'),
        ),
        migrations.AddIndex(
            model_name='tenant',
            index=models.Index(condition=models.Q(('at_limit', True), ('max_payload_bytes__isnull', False), ('encrypted', True), ('closed', True), ('schedules_per_second__isnull', False), _connector='OR'), fields=['name'], name='punctual_tenant_guarded'),
        ),
        migrations.AddIndex(
            model_name='tenant',
            index=models.Index(condition=models.Q(('max_running__isnull', False)), fields=['name'], name='punctual_tenant_bounded'),
        ),
        migrations.AddIndex(
            model_name='tenant',
            index=models.Index(condition=models.Q(('retention__gt', ''), ('max_history_days__isnull', False), _connector='OR'), fields=['name'], name='punctual_tenant_kept'),
        ),
        migrations.AddConstraint(
            model_name='tenant',
            constraint=models.CheckConstraint(condition=models.Q(('lane__in', ['', 'critical', 'high', 'default', 'low', 'deferred', 'backfill'])), name='punctual_tenant_lane'),
        ),
        migrations.AddConstraint(
            model_name='tenant',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['ACTIVE', 'SUSPENDED', 'ARCHIVED'])), name='punctual_tenant_state'),
        ),
        migrations.AddConstraint(
            model_name='tenant',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'ARCHIVED'), _negated=True), ('closed', True), _connector='OR'), name='punctual_tenant_archived_is_closed'),
        ),
        migrations.AddIndex(
            model_name='schedulecount',
            index=models.Index(fields=['tenant', 'at'], name='punctual_schedule_count_of'),
        ),
        migrations.AddIndex(
            model_name='schedulecount',
            index=models.Index(fields=['at'], name='punctual_schedule_count_at'),
        ),
        migrations.AddIndex(
            model_name='tenantarchive',
            index=models.Index(condition=models.Q(('state', 'RUNNING')), fields=['tenant'], name='punctual_tenant_archive_due'),
        ),
        migrations.AddConstraint(
            model_name='tenantarchive',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['RUNNING', 'STOPPED', 'DONE'])), name='punctual_tenant_archive_state'),
        ),
        migrations.AddConstraint(
            model_name='tenantarchive',
            constraint=models.CheckConstraint(condition=models.Q(('phase__in', ['WAIT', 'EXPORT', 'REMOVE'])), name='punctual_tenant_archive_phase'),
        ),
    ]
