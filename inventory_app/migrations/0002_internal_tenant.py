from django.db import migrations

from tasks_app.migrations._tenants import move_to_internal


class Migration(migrations.Migration):
    atomic = False  # in steps, each committed by itself

    dependencies = [("inventory_app", "0001_initial"), ("tasks_app", "0015_internal_tenant")]

    operations = [move_to_internal("STOCK_SYNC")]
