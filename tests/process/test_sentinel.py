"""Redis behind sentinels: its master is killed, a replica takes over, and that costs timing only."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis

from django_punctual import schedule
from tasks_app.embedded import binaries
from tasks_app.embedded.account import server_account
from tasks_app.engine.wakeup import client
from tests.support.engine import row
from tests.support.stack import Stack
from tests.support.wait import wait_until

MASTER = "shop"


@dataclass
class Group:
    url: str
    master: subprocess.Popen
    replica: int  # its port


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    program = str(binaries.valkey_server(server_account(tmp_path)))
    ports = _free_ports(3)
    usual = ["--bind", "127.0.0.1", "--save", "", "--repl-diskless-sync-delay", "0", "--dir", str(tmp_path)]
    master = subprocess.Popen([program, "--port", str(ports[0]), *usual], stdout=subprocess.DEVNULL)
    follow = ["--replicaof", "127.0.0.1", str(ports[0])]
    replica = subprocess.Popen([program, "--port", str(ports[1]), *usual, *follow], stdout=subprocess.DEVNULL)
    wait_until(lambda: _info(ports[1]).get("master_link_status") == "up", timeout=30)
    config = tmp_path / "sentinel.conf"
    config.write_text(
        f"port {ports[2]}\nbind 127.0.0.1\ndir {tmp_path}\nsentinel monitor {MASTER} 127.0.0.1 {ports[0]} 1\n"
        f"sentinel down-after-milliseconds {MASTER} 500\nsentinel failover-timeout {MASTER} 3000\n"
    )
    watcher = subprocess.Popen([program, str(config), "--sentinel"], stdout=subprocess.DEVNULL)
    wait_until(lambda: _replicas_known(ports[2]), timeout=30)
    yield Group(f"sentinel://127.0.0.1:{ports[2]}/{MASTER}/0", master, ports[1])
    for process in (watcher, replica, master):
        process.kill()
        process.wait()


@pytest.mark.django_db(transaction=True)
def test_when_the_master_is_killed_tasks_go_on_through_the_replica(stack: Stack, group: Group):
    stack.worker(REDIS_URL=group.url, PUNCTUAL_DISPATCH_LEASE_SECONDS="4")
    stack.beat(REDIS_URL=group.url, PUNCTUAL_DISPATCH_LEASE_SECONDS="4")
    before = schedule("T_EFFECT", "before", payload={}).task_id
    wait_until(lambda: row(before).status == "SUCCESS", timeout=30, describe=stack.logs)

    os.kill(group.master.pid, signal.SIGKILL)
    after = [schedule("T_EFFECT", f"k{n}", payload={}).task_id for n in range(20)]

    wait_until(lambda: all(row(one).status == "SUCCESS" for one in after), timeout=60, describe=stack.logs)
    with client(1.0, group.url) as found:
        assert (found.info("replication")["role"], found.info("server")["tcp_port"]) == ("master", group.replica)
    assert {row(one).retry_count for one in after} == {0}


def _free_ports(number: int) -> list[int]:
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [server.getsockname()[1] for server in servers]
    for server in servers:
        server.close()
    return ports


def _info(port: int) -> dict:
    try:
        with redis.Redis(port=port, retry=None) as one:
            return one.info("replication")
    except redis.RedisError:
        return {}


def _replicas_known(port: int) -> bool:
    try:
        with redis.Redis(port=port, retry=None) as one:
            return bool(one.sentinel_slaves(MASTER))
    except redis.RedisError:
        return False
