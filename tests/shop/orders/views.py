from django.db import transaction
from django.http import JsonResponse
from django.views.decorators.csrf import csrf_exempt

from .models import Order
from .tasks import send_mail


@csrf_exempt
def place(request):
    order = Order.objects.create(customer=request.POST["customer"])
    transaction.on_commit(lambda: send_mail.delay(order.pk, "Thank you."))
    return JsonResponse({"order": order.pk})
