"""Clients that may talk to this machine alone."""

from __future__ import annotations

import gc
import ipaddress
import os
import socket
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# LiteLLM fetches a table of prices when it is imported, unless it is told to take its own.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LITELLM_MODE"] = "PRODUCTION"


def _is_here(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode()
    if host in {None, "", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Fail where a client asks another machine, or for its address; some try that in a thread of their own."""
    asked: list[Any] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if self.family in {socket.AF_INET, socket.AF_INET6} and not _is_here(address[0]):
            asked.append(address)
            raise ConnectionRefusedError(f"a test asked {address}")
        connect(self, address)

    def guarded_look_up(host: Any, *arguments: Any, **options: Any) -> Any:
        if not _is_here(host):
            asked.append(host)
            raise socket.gaierror(socket.EAI_NONAME, f"a test asked for {host}")
        return look_up(host, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield
    assert not asked


def _collect() -> None:
    """Let go here, unheard, what clients leave open: found later, it would fail somebody else's test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.fixture(scope="module")
def server():
    """A replay server for all tests of a module: each clears it first."""
    pytest.importorskip("uvicorn")
    pytest.importorskip("starlette")
    from turntape.testing import ReplayServer

    with ReplayServer() as server:
        yield server
    # LiteLLM keeps its clients for an hour.
    litellm: Any = sys.modules.get("litellm")
    if litellm is not None:
        litellm.in_memory_llm_clients_cache.flush_cache()
    _collect()
