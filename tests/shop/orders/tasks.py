from celery import shared_task

from .models import Mail


@shared_task(bind=True)
def send_mail(self, order_id: int, text: str) -> int:
    worker = self.request.hostname or "nobody"
    return Mail.objects.create(order_id=order_id, text=text, sent_by=f"{self.app.main} {worker}").pk
