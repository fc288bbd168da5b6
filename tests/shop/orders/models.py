from django.db import models


class Order(models.Model):
    customer = models.CharField(max_length=100)
    paid = models.BooleanField(default=False)
    placed_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.customer}'s order"


class Mail(models.Model):
    """What was sent, and which worker of which Celery app did it."""

    order = models.ForeignKey(Order, models.CASCADE)
    text = models.CharField(max_length=200)
    sent_by = models.CharField(max_length=200)

    def __str__(self) -> str:
        return self.text
