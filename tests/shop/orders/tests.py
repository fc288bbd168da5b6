from django.test import TestCase

from .models import Mail


class Placing(TestCase):
    def test_a_customer_is_thanked(self):
        with self.captureOnCommitCallbacks(execute=True):
            self.client.post("/orders/", {"customer": "Ada"})
        self.assertEqual(Mail.objects.get().text, "Thank you.")
