"""A client of the small service: what each way to end a call looks like.

Starts a server of its own unless it gets an address. Run as server.py, with PYTHONPATH=build.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import Any

import grpc
import server
import tokens_pb2
import tokens_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

# --8<-- [start:config]
CONFIG = {  # the service config: load balancing, health and retries without code
    "loadBalancingConfig": [{"round_robin": {}}],
    "healthCheckConfig": {"serviceName": server.SERVICE},
    "methodConfig": [
        {
            "name": [{"service": server.SERVICE}],
            "retryPolicy": {
                "maxAttempts": 3,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ],
}
OPTIONS = [
    ("grpc.service_config", json.dumps(CONFIG)),
    ("grpc.keepalive_time_ms", 60_000),  # servers refuse pings that come too often
]
# --8<-- [end:config]


async def read(call: Any, cancel_after: int | None = None) -> str:
    """Read a stream to its end, or cancel it; return how many tokens came and the status."""
    count = 0
    try:
        async for _ in call:
            count += 1
            if count == cancel_after:
                call.cancel()
    except (grpc.aio.AioRpcError, asyncio.CancelledError):
        pass
    return f"{count} tokens, {(await call.code()).name}"


async def cases(address: str, kept: server.Running | None) -> None:
    async with grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
        check = health_pb2_grpc.HealthStub(channel)
        asked = health_pb2.HealthCheckRequest(service=server.SERVICE)
        answer = await check.Check(asked, wait_for_ready=True)
        print("health:   ", health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))

        stub = tokens_pb2_grpc.TokensStub(channel)

        def ask(prompt: str = "all work and no play", tokens: int = 5, **more: Any) -> Any:
            request = tokens_pb2.GenerateRequest(prompt=prompt, max_tokens=tokens)
            return stub.Generate(request, **more)

        print("normal:   ", await read(ask(timeout=5)))
        late = await read(ask(tokens=100, timeout=0.5))
        print("deadline: ", "some tokens," if late[0] != "0" else late, late.split(", ")[1])
        print("cancel:   ", await read(ask(tokens=100, timeout=5), cancel_after=3))
        print("empty:    ", await read(ask(prompt="", timeout=5)))
        print("2 MiB:    ", await read(ask(prompt="x" * (2 << 20), timeout=5)))
        many = await asyncio.gather(*(read(ask(tokens=20, timeout=5)) for _ in range(6)))
        print("6 at once:", sorted(one.split(", ")[1] for one in many))
        if kept:
            await asyncio.sleep(5 * server.STEP)
            print("server:   ", kept.tokens.log[:3], kept.tokens.free, "slots free")


async def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", help="of a server that runs already")
    options = parser.parse_args(words)
    if options.address:
        await cases(options.address, None)
        return
    running = server.Running()
    port = await running.start("127.0.0.1:0")
    await cases(f"ipv4:127.0.0.1:{port}", running)
    await running.stop(grace=1)


if __name__ == "__main__":
    asyncio.run(main())
