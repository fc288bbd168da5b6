"""The panels' own tests, in Node."""

from tests.support.panels import run_panel_tests


def test_the_panels_keep_their_promises():
    run_panel_tests()
