from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0020_imported_schedule")]

    operations = [migrations.RenameField("typelimit", "tokens", "permits")]
