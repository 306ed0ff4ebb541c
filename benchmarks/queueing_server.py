"""A server of known service times, which needs hardly any CPU: requests queue, and are served by waiting.

queueing_server.py PORT SHAPE SERVERS:MS [SERVERS:MS ...]

Each request passes the stations one after the other. A station has so many servers, which take so many milliseconds on
average: all alike (SHAPE fixed), or negative-exponential (exponential). A lock is a station with one server. Service
begins when a request came or a server was free, by the clock and not by when this process woke up: it carries no less
for waking up late. Exponential times come in blocks of twenty whose mean is exact, so that a short run carries what a
long one does.
"""

import asyncio
import heapq
import math
import random
import selectors
import sys
from collections.abc import Iterator

BLOCK = 20
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def times(shape: str, mean_s: float, rng: random.Random) -> Iterator[float]:
    """Service times without end, s."""
    quantiles = [-math.log(1 - (i + 0.5) / BLOCK) for i in range(BLOCK)] if shape == "exponential" else [1.0]
    unit = mean_s * len(quantiles) / sum(quantiles)
    while True:
        yield from (unit * x for x in rng.sample(quantiles, len(quantiles)))


class Station:
    """Servers with one queue, in the order of arrival."""

    def __init__(self, servers: int, service: Iterator[float]) -> None:
        self._free = [0.0] * servers
        self._service = service

    def done(self, at: float) -> float:
        """Take the next request at a time, s; return when it will have been served."""
        end = max(at, heapq.heappop(self._free)) + next(self._service)
        heapq.heappush(self._free, end)
        return end


class Queue(asyncio.Protocol):
    """One connection."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stations: list[Station]) -> None:
        self._loop, self._stations = loop, stations
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what answers are written to."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Begin to serve each request that ends here; none has a body."""
        for _ in range(data.count(b"\r\n\r\n")):
            self._enter(self._loop.time(), 0)

    def _enter(self, at: float, station: int) -> None:
        if station < len(self._stations):
            end = self._stations[station].done(at)
            self._loop.call_at(end, self._enter, end, station + 1)
        elif self._transport is not None and not self._transport.is_closing():
            self._transport.write(ANSWER)


async def serve(port: int, shape: str, words: list[str]) -> None:
    """Serve until the process is ended."""
    rng, loop = random.Random(port), asyncio.get_running_loop()
    sizes = [(int(servers), float(ms) / 1e3) for servers, ms in (word.split(":") for word in words)]
    stations = [Station(servers, times(shape, mean_s, rng)) for servers, mean_s in sizes]
    server = await loop.create_server(lambda: Queue(loop, stations), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    # Waits of select have no whole milliseconds, as those of epoll have.
    made = asyncio.SelectorEventLoop(selectors.SelectSelector())
    made.run_until_complete(serve(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
