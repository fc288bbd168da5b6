"""The tests of this folder, and the processes that they start, run with the settings that ship."""

from dataclasses import fields
from os import environ

from django.conf import settings

from articles_app.conf import Conf as ArticlesConf
from articles_app.conf import conf as articles_conf
from inventory_app.conf import Conf as StockConf
from inventory_app.conf import conf as stock_conf
from scheduler_project import settings as project
from tasks_app.conf import Conf, conf
from tests.requirements import shipped_settings

ADDRESSES = {"REDIS_URL", "BACKUP_SPOOL"}  # of the test servers, and below the home of this checkout
SECTIONS = ("PUNCTUAL", "ARTICLES", "STOCK")


def differing(one: object, other: object) -> set[str]:
    return {knob.name for knob in fields(one) if getattr(one, knob.name) != getattr(other, knob.name)}


def test_every_setting_of_a_test_is_the_shipped_one():
    for section in SECTIONS:
        assert getattr(settings, section) == getattr(project, section)
    assert settings.PUNCTUAL["REDIS_URL"] == environ["REDIS_URL"]


def test_the_project_ships_the_defaults():
    assert differing(conf(), Conf()) == ADDRESSES
    assert differing(articles_conf(), ArticlesConf()) == set()
    assert differing(stock_conf(), StockConf()) == set()


def test_the_processes_of_a_test_have_the_shipped_settings_and_one_more_app():
    for section in SECTIONS:
        assert getattr(shipped_settings, section) is getattr(project, section)
    given, shipped = (
        {name: value for name, value in vars(module).items() if name.isupper() and name[0] != "_"}
        for module in (shipped_settings, project)
    )
    assert {name for name in given | shipped if given[name] != shipped[name]} == {"INSTALLED_APPS"}
    assert given["INSTALLED_APPS"] == [*shipped["INSTALLED_APPS"], "tests.support.testapp"]
