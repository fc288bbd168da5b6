"""What we use of asgiref that it never promised."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from asgiref.sync import SyncToAsync, ThreadSensitiveContext, sync_to_async


def test_asgiref_notes_its_loop_in_the_thread():
    async def ask() -> dict:
        with ThreadPoolExecutor(1) as thread:
            async with ThreadSensitiveContext(executor=thread):
                noted = await sync_to_async(lambda: dict(vars(SyncToAsync.threadlocal)))()
        assert noted["main_event_loop"] is asyncio.get_running_loop()
        return noted

    assert "main_event_loop_pid" in asyncio.run(ask())
    assert isinstance(SyncToAsync.threadlocal, threading.local)
