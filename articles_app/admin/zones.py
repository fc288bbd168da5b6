"""Whose clock an editor sees: the zone they chose, else the browser's, else UTC."""

from typing import NamedTuple
from urllib.parse import unquote
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget

from articles_app.models import EditorPreference

from .times import zone_named

COOKIE = "punctual_zone"  # written by zone.js
UTC = ZoneInfo("UTC")


class EditorZone(NamedTuple):
    zone: ZoneInfo
    chosen: bool  # by the editor; otherwise it is the browser's


def zone_of(request: HttpRequest) -> EditorZone:
    preferred = EditorPreference.objects.filter(user_id=request.user.pk).values_list("time_zone", flat=True).first()
    chosen = zone_named(preferred)
    if chosen is not None:
        return EditorZone(chosen, True)
    return EditorZone(_zone_of_browser(request) or UTC, False)


def _zone_of_browser(request: HttpRequest) -> ZoneInfo | None:
    return zone_named(unquote(request.COOKIES.get(COOKIE, "")))


class LongSelect(UnfoldAdminSelectWidget):
    template_name = "articles_app/long_select.html"


class ZoneForm(forms.Form):
    time_zone = forms.ChoiceField(required=False, widget=LongSelect, label=gettext_lazy("Time zone"))

    def __init__(self, *args: object, browser: ZoneInfo | None, **options: object) -> None:
        super().__init__(*args, **options)
        says = (
            gettext("As my browser has it ({key})").format(key=browser.key)
            if browser
            else gettext("As my browser has it")
        )
        self.fields["time_zone"].choices = [("", says), *((name, name) for name in sorted(available_timezones()))]


def choose_zone(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """The page where an editor chooses; it changes nothing but how times are shown and read."""
    back = request.POST.get("next") or request.GET.get("next") or ""
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}, require_https=False):
        back = reverse("admin:articles_app_article_changelist")
    initial = EditorPreference.objects.filter(user=request.user).values("time_zone").first()
    form = ZoneForm(request.POST or None, initial=initial, browser=_zone_of_browser(request))
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["time_zone"]
        EditorPreference.objects.update_or_create(user=request.user, defaults={"time_zone": name})
        zone = zone_of(request).zone.key
        messages.success(
            request,
            gettext("Times are shown and read in {zone} from now on. No article was changed.").format(zone=zone),
        )
        return HttpResponseRedirect(back)
    context = site.each_context(request) | {"title": gettext("Time zone"), "form": form, "next": back}
    return TemplateResponse(request, "articles_app/zone.html", context)
