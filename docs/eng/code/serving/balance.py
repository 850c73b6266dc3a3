"""One connection, one server: why calls behind a TCP load balancer are not spread.

Three servers; 300 calls go through a balancer that chooses per connection, as a Kubernetes
Service does, and then straight, with the client choosing per call. Needs only grpcio.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from typing import Any

import grpc

CALL = "/handbook.Who/Am"
OPTIONS = [("grpc.use_local_subchannel_pool", 1)]


async def start(name: bytes, age_ms: int | None = None) -> tuple[Any, int]:
    """Start a server that answers with its name."""

    async def answer(request: bytes, context: Any) -> bytes:
        return name

    options = [("grpc.max_connection_age_ms", age_ms)] if age_ms else []
    server = grpc.aio.server(options=options)
    handler = grpc.unary_unary_rpc_method_handler(answer)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("handbook.Who", {"Am": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, port


async def balancer(ports: list[int]) -> tuple[asyncio.Server, int]:
    """Start a TCP balancer: each connection goes to the next server, with all that it carries."""
    turn = itertools.cycle(ports)

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", next(turn))
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    proxy = await asyncio.start_server(connected, "127.0.0.1", 0)
    return proxy, proxy.sockets[0].getsockname()[1]


async def spread(target: str, options: list[Any], calls: int = 300, pause: float = 0) -> str:
    """Make calls over one channel and return how many each server answered."""
    found: Counter[bytes] = Counter()
    async with grpc.aio.insecure_channel(target, options=OPTIONS + options) as channel:
        call = channel.unary_unary(CALL)
        for _ in range(calls):
            found[await call(b"", wait_for_ready=True)] += 1
            await asyncio.sleep(pause)
    return "  ".join(f"{name} {found[name.encode()]}" for name in "abc")


async def main() -> None:
    servers = [await start(name) for name in (b"a", b"b", b"c")]
    ports = [port for _, port in servers]
    proxy, port = await balancer(ports)
    print("TCP balancer:               ", await spread(f"ipv4:127.0.0.1:{port}", []))
    policy = json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})
    all_of = "ipv4:" + ",".join(f"127.0.0.1:{one}" for one in ports)
    chosen = [("grpc.service_config", policy)]
    print("client chooses, round_robin:", await spread(all_of, chosen))
    print("client chooses, pick_first: ", await spread(all_of, []))
    proxy.close()
    for server, _ in servers:
        await server.stop(None)


if __name__ == "__main__":
    asyncio.run(main())
