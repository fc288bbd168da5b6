"""What the pages of dead letters are asked for, and what is to be done to letters."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext, gettext_lazy

from tasks_app.core.errors import TAG_LENGTH, InvalidTask, checked_tags
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.operations.letters import MOST_NAMED
from tasks_app.engine.watch.letters import LetterFilter

from .forms import BulkForm, ManyForm, TenantField, UtcField, reason_field
from .words import LETTER_VERBS


class LetterFilterForm(forms.Form):
    type = forms.CharField(label=gettext_lazy("Type"), required=False, max_length=100)
    tag = forms.CharField(label=gettext_lazy("Tag"), required=False, max_length=TAG_LENGTH)
    job = forms.IntegerField(label=gettext_lazy("Job"), required=False, min_value=1, max_value=2**63 - 1)
    tenant = TenantField(required=False)
    since = UtcField(label=gettext_lazy("Died from (UTC)"), required=False)
    until = UtcField(label=gettext_lazy("Until (UTC)"), required=False)
    cause = forms.RegexField("^[0-9a-f]{16}$", label=gettext_lazy("Cause"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["type"].widget.attrs |= {"list": "task-types", "autocomplete": "off"}
        self.fields["tag"].widget.attrs |= {"autocomplete": "off", "placeholder": "timeout"}
        self.fields["cause"].widget.attrs |= {"autocomplete": "off"}
        self.fields["cause"].error_messages["invalid"] = gettext("A cause has 16 digits and letters a to f.")

    def clean_tag(self) -> str | None:
        tag = self.cleaned_data["tag"] or None
        if tag is not None:
            _tags([tag])
        return tag

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and until <= since:
            self.add_error("until", gettext("It must be later than the start."))
        return cleaned

    @property
    def filter(self) -> LetterFilter:
        given = {name: value or None for name, value in self.cleaned_data.items()}
        return LetterFilter(task_type=given.pop("type"), fingerprint=given.pop("cause"), **given)

    @property
    def query(self) -> str:
        """The filter as the query of a URL, without what is empty."""
        return urlencode({name: self.data[name] for name in self.fields if self.data.get(name)})

    @property
    def words(self) -> list[tuple[str, str]]:
        """The filter as people read it."""
        return [(field.label, self.data[name]) for name, field in self.fields.items() if self.data.get(name)]

    @property
    def types(self) -> list[str]:
        return sorted(handler.name for handler in REGISTRY)


class LetterOrderForm(BulkForm):
    """An order for dead letters."""

    TOO_MANY = gettext_lazy("{count:,} letters are selected; at most {most:,} can be. Choose everything that matches.")
    NOT_A_LIST = gettext_lazy("{ids!r} is not a list of letters.")
    NONE = gettext_lazy("No letter is selected.")
    MOST, FILTER = MOST_NAMED, LetterFilterForm

    verb = forms.ChoiceField(choices=[(verb.value, verb.value) for verb in LETTER_VERBS], widget=forms.HiddenInput)


class LetterReasonForm(ManyForm, LetterOrderForm):
    """An order that is to be carried out, with its pace."""


class TagsForm(forms.Form):
    """The tags of one letter, as they should be."""

    tags = forms.CharField(label=gettext_lazy("Tags, with commas between them"), required=False, max_length=2_000)
    reason = reason_field()

    def clean_tags(self) -> list[str]:
        return list(_tags([one.strip() for one in self.cleaned_data["tags"].split(",") if one.strip()]))


def _tags(given: list[str]) -> tuple[str, ...]:
    try:
        return checked_tags(given)
    except InvalidTask as error:
        raise forms.ValidationError(str(error)) from None
