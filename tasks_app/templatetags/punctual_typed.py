"""{% typed_by %} in a form: what is typed into it survives a login that ran out, see tasks_app/pages/typed.py."""

from django import template
from django.template import RequestContext
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tasks_app.pages.typed import FIELD, signed_for

register = template.Library()


@register.simple_tag(takes_context=True)
def typed_by(context: RequestContext) -> SafeString:
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, signed_for(context["request"].user))
