import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies: list[tuple[str, str]] = []

    operations = [
        migrations.CreateModel(
            name="CoverageHour",
            fields=[
                ("hour", models.DateTimeField(primary_key=True, serialize=False)),
                ("products", models.BigIntegerField()),
                ("fresh", models.BigIntegerField(help_text="Synced within the window.")),
                ("never", models.BigIntegerField(help_text="Never synced.")),
                ("length", models.DurationField(help_text="Of the window.")),
            ],
            options={
                "db_table": "coverage_hour",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="SyncWindow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chosen", models.DurationField(help_text="Empty: what the settings say.", null=True)),
                (
                    "applied",
                    models.DurationField(help_text="What all tasks roll by; another one: some don't yet.", null=True),
                ),
                ("changed_by", models.CharField(db_default="", max_length=150)),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "sync_window",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Product",
            fields=[
                (
                    "product_code",
                    models.CharField(
                        db_collation="C", max_length=200, primary_key=True, serialize=False, verbose_name="code"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "stock_quantity",
                    models.BigIntegerField(help_text="Empty: never synced.", null=True, verbose_name="quantity"),
                ),
                (
                    "stock_synced_at",
                    models.DateTimeField(
                        help_text="When the stock system was asked for this quantity.",
                        null=True,
                        verbose_name="synced at",
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "product",
                "indexes": [
                    models.Index(
                        models.OrderBy(models.F("stock_synced_at"), nulls_first=True),
                        models.F("product_code"),
                        name="product_synced",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("stock_quantity__isnull", True), ("stock_quantity__gte", 0), _connector="OR"
                        ),
                        name="product_quantity",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("stock_quantity__isnull", False), ("stock_synced_at__isnull", True), _connector="OR"
                        ),
                        name="product_synced_is_known",
                    ),
                ],
            },
        ),
    ]
