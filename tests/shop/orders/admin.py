from django.contrib import admin

from .models import Mail, Order

admin.site.register([Order, Mail])
