"""A small gRPC service: streams tokens, keeps deadlines, stops when the client goes.

Run:  python -m grpc_tools.protoc -I docs/eng/code/serving --python_out=build \
          --grpc_python_out=build docs/eng/code/serving/tokens.proto
      PYTHONPATH=build python docs/eng/code/serving/server.py
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import tokens_pb2
import tokens_pb2_grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

STEP = 0.02  # seconds per token of the pretended model
SERVICE = "handbook.serving.Tokens"
OPTIONS = [
    ("grpc.max_receive_message_length", 1 << 20),  # prompts are small: refuse early
    ("grpc.max_connection_age_ms", 300_000),  # so that clients spread over new replicas
    ("grpc.max_connection_age_grace_ms", 120_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 50_000),  # the clients ping every 60 s
]


# --8<-- [start:service]
class Tokens(tokens_pb2_grpc.TokensServicer):
    """Answers with the words of the prompt, again and again, one each STEP."""

    def __init__(self, slots: int) -> None:
        self.free = slots
        self.log: list[str] = []

    async def Generate(  # noqa: N802 - the name in the .proto
        self, request: Any, context: Any
    ) -> AsyncIterator[Any]:
        words = request.prompt.split()
        if not words or not 0 < request.max_tokens <= 4096:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "a prompt, 1 to 4096 tokens")
        if not self.free:  # refuse now rather than queue what nobody will wait for
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "all slots are busy")
        self.free -= 1
        sent = 0
        try:
            while sent < request.max_tokens:
                await asyncio.sleep(STEP)
                yield tokens_pb2.Token(index=sent, text=words[sent % len(words)])
                sent += 1
        finally:  # also when the deadline passes or the client cancels
            self.free += 1
            done = sent == request.max_tokens
            self.log.append("finished" if done else "stopped early")


# --8<-- [end:service]


class Timing(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Sees each call before its handler: here the time to the first answer."""

    def __init__(self) -> None:
        self.first: list[float] = []

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: Any
    ) -> Any:
        handler = await continuation(details)
        if handler is None or not details.method.startswith(f"/{SERVICE}/"):
            return handler  # the health service is written in another style
        inner = handler.unary_stream

        async def timed(request: Any, context: Any) -> AsyncIterator[Any]:
            start, fresh = time.perf_counter(), True
            async for answer in inner(request, context):
                if fresh:
                    self.first.append(time.perf_counter() - start)
                    fresh = False
                yield answer

        return grpc.unary_stream_rpc_method_handler(
            timed, handler.request_deserializer, handler.response_serializer
        )


class Running:
    """A started server with what belongs to it."""

    def __init__(self, slots: int = 4) -> None:
        self.timing = Timing()
        self.server = grpc.aio.server(interceptors=[self.timing], options=OPTIONS)
        self.tokens = Tokens(slots)
        self.health = health.aio.HealthServicer()
        tokens_pb2_grpc.add_TokensServicer_to_server(self.tokens, self.server)
        health_pb2_grpc.add_HealthServicer_to_server(self.health, self.server)

    async def start(self, address: str) -> int:
        """Serve, say so only when the model is there, and return the port."""
        port = self.server.add_insecure_port(address)
        await self.health.set(SERVICE, health_pb2.HealthCheckResponse.NOT_SERVING)
        await self.server.start()
        await asyncio.sleep(STEP)  # the weights are loaded
        await self.health.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)
        return int(port)

    async def stop(self, grace: float) -> None:
        """Leave the load balancer first, then let running streams end."""
        await self.health.enter_graceful_shutdown()
        await self.server.stop(grace)


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--slots", type=int, default=4)
    options = parser.parse_args()
    running = Running(options.slots)
    print("serving on port", await running.start(options.address), flush=True)
    ended = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    await ended.wait()
    await running.stop(grace=30)


if __name__ == "__main__":
    asyncio.run(main())
