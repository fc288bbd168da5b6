"""Alarms: their rules and channels, the incidents that they found, the alerts about them, and how far events were read."""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0031_letters'),
    ]

    operations = [
        migrations.CreateModel(
            name='AlarmAlert',
            fields=[
                ('id', models.UUIDField(primary_key=True, serialize=False)),
                ('channel', models.BigIntegerField()),
                ('incident', models.BigIntegerField(help_text='Empty: of several, or of none.', null=True)),
                ('kind', models.CharField(max_length=10)),
                ('body', models.JSONField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('attempts', models.IntegerField(db_default=0)),
                ('error', models.TextField(db_default='')),
                ('done_at', models.DateTimeField(null=True)),
                ('outcome', models.CharField(db_default='', help_text='SENT; FOLDED into another; or GIVEN_UP.', max_length=8)),
                ('folded_into', models.UUIDField(null=True)),
            ],
            options={
                'verbose_name': 'alert',
                'db_table': 'punctual_alarm_alert',
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('done_at__isnull', True)), fields=['channel', 'created_at'], name='punctual_alarm_alert_waiting'), models.Index(condition=models.Q(('done_at__isnull', False)), fields=['done_at'], name='punctual_alarm_alert_done'), models.Index(fields=['channel', '-created_at'], name='punctual_alarm_alert_channel'), models.Index(condition=models.Q(('incident__isnull', False)), fields=['incident'], name='punctual_alarm_alert_incident')],
            },
        ),
        migrations.CreateModel(
            name='AlarmChannel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tenant', models.CharField(db_collation='C', help_text="Empty: the operators'.", max_length=63, null=True)),
                ('name', models.CharField(db_collation='C', max_length=100)),
                ('revision', models.IntegerField(db_default=1)),
                ('kind', models.CharField(max_length=10)),
                ('target', models.TextField(help_text='Sealed: addresses, and the secret that signs what is sent.')),
                ('shown', models.CharField(help_text='Of the target, what is no secret.', max_length=200)),
                ('most_per_hour', models.IntegerField(help_text='Alerts; what is more is sent together as one.')),
                ('enabled', models.BooleanField(db_default=True)),
                ('permits', models.FloatField(help_text='Alerts that could be sent now; refilled from most_per_hour.')),
                ('refilled_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('held_until', models.DateTimeField(help_text='A beat is sending; the lease.', null=True)),
                ('fence', models.IntegerField(db_default=0, help_text='Goes up each time a beat takes it.')),
                ('attempts', models.IntegerField(db_default=0, help_text='Failed, since the last that succeeded.')),
                ('next_try_at', models.DateTimeField(null=True)),
                ('failing_since', models.DateTimeField(null=True)),
                ('error', models.TextField(db_default='', help_text='Of the last try, if that failed.')),
                ('sent_at', models.DateTimeField(help_text='The last that succeeded.', null=True)),
                ('created_by', models.CharField(db_default='', max_length=150)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'verbose_name': 'alarm channel',
                'db_table': 'punctual_alarm_channel',
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('failing_since__isnull', False)), fields=['failing_since'], name='punctual_alarm_channel_fails')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'name'), name='punctual_alarm_channel_name', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('kind__in', ['webhook', 'email', 'chat'])), name='punctual_alarm_channel_kind')],
            },
        ),
        migrations.CreateModel(
            name='AlarmIncident',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rule', models.BigIntegerField()),
                ('tenant', models.CharField(db_collation='C', help_text="The rule's.", max_length=63, null=True)),
                ('condition', models.CharField(max_length=10)),
                ('cause', models.CharField(db_collation='C', max_length=200)),
                ('task_type', models.CharField(db_collation='C', max_length=100)),
                ('job', models.BigIntegerField(help_text='The job, if the rule is about one.', null=True)),
                ('count', models.BigIntegerField()),
                ('seconds', models.FloatField(db_default=0.0, help_text='How late, or how long: the worst.')),
                ('sample', models.JSONField()),
                ('opened_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('calm_at', models.DateTimeField(help_text='Not before this is it asked whether all is well again.')),
                ('tell_at', models.DateTimeField(help_text='There is something to tell, from then on.', null=True)),
                ('told_at', models.DateTimeField(null=True)),
                ('told_count', models.BigIntegerField(db_default=0)),
                ('closed_at', models.DateTimeField(null=True)),
                ('outcome', models.CharField(db_default='', help_text='WELL, or GONE: nobody will ever know.', max_length=4)),
            ],
            options={
                'verbose_name': 'incident',
                'db_table': 'punctual_alarm_incident',
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('tell_at__isnull', False)), fields=['tell_at'], name='punctual_alarm_incident_tell'), models.Index(condition=models.Q(('closed_at__isnull', True)), fields=['calm_at'], name='punctual_alarm_incident_calm'), models.Index(condition=models.Q(('closed_at__isnull', False)), fields=['closed_at'], name='punctual_alarm_incident_closed'), models.Index(fields=['tenant', '-id'], name='punctual_alarm_incident_tenant')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('closed_at__isnull', True)), fields=('rule', 'condition', 'task_type', 'cause'), name='punctual_alarm_incident_open')],
            },
        ),
        migrations.CreateModel(
            name='AlarmReader',
            fields=[
                ('id', models.SmallIntegerField(db_default=1, primary_key=True, serialize=False)),
                ('cluster', models.BigIntegerField(help_text='Of the database server: in another, transactions are numbered anew.')),
                ('floor_id', models.BigIntegerField(db_default=0, help_text='Rows up to this one were written by another server.')),
                ('before', models.TextField(help_text='All that this snapshot sees has been read, ...')),
                ('after', models.TextField(help_text='... and what this one sees is being read, ...', null=True)),
                ('xid', models.BigIntegerField(db_default=0, help_text='... in order of transactions; this one ...')),
                ('row', models.BigIntegerField(db_default=0, help_text='... up to this row.')),
                ('read_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'punctual_alarm_reader',
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='punctual_alarm_reader_one')],
            },
        ),
        migrations.CreateModel(
            name='AlarmRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tenant', models.CharField(db_collation='C', help_text='Empty: all tenants.', max_length=63, null=True)),
                ('name', models.CharField(db_collation='C', max_length=100)),
                ('revision', models.IntegerField(db_default=1)),
                ('conditions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=10), size=None)),
                ('task_types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), help_text='Patterns; none: all types.', size=None)),
                ('job', models.BigIntegerField(help_text='This job alone.', null=True)),
                ('late_seconds', models.FloatField(null=True)),
                ('running_seconds', models.FloatField(null=True)),
                ('channels', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('repeat_seconds', models.IntegerField(help_text='While it goes on, it is told again no sooner than this.')),
                ('quiet_seconds', models.IntegerField(help_text='It is well again when it has not happened for so long.')),
                ('runbook', models.CharField(db_default='', max_length=500)),
                ('enabled', models.BooleanField(db_default=True)),
                ('created_by', models.CharField(db_default='', max_length=150)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'verbose_name': 'alarm rule',
                'db_table': 'punctual_alarm_rule',
                'permissions': [('operate_alarmrule', 'Can create, edit, test and delete alarm rules and channels')],
                'default_permissions': ('view',),
                'indexes': [models.Index(condition=models.Q(('enabled', True), ('running_seconds__isnull', False)), fields=['running_seconds'], name='punctual_alarm_rule_running')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'name'), name='punctual_alarm_rule_name', nulls_distinct=False)],
            },
        ),
    ]
