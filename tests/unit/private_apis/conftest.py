"""What several of the tests here need."""

import socket

import pytest


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs
