"""A server of known service times, which needs hardly any CPU: requests queue, and are served by waiting.

queueing_server.py PORT SHAPE SERVERS:MS [SERVERS:MS ...] [tls=FILE]

/pool tells of the first station as of a pool (workloads/load/README.md). Each request passes the stations one after the
other. A station has so many servers, which take so many milliseconds on
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
import ssl
import sys
from collections import deque
from collections.abc import Iterator

BLOCK = 20
TLS = "tls="
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"


def times(shape: str, mean_s: float, rng: random.Random) -> Iterator[float]:
    """Yield service times without end, s, whose mean over each block is `mean_s`."""
    quantiles = [-math.log(1 - (i + 0.5) / BLOCK) for i in range(BLOCK)] if shape == "exponential" else [1.0]
    unit = mean_s * len(quantiles) / sum(quantiles)
    while True:
        yield from (unit * x for x in rng.sample(quantiles, len(quantiles)))


class Station:
    """Servers with one queue, in the order of arrival; times are seconds of the clock of whoever calls."""

    def __init__(self, servers: int, service: Iterator[float]) -> None:
        self._size, self._free = servers, [0.0] * servers
        self._service = service
        # When each request came, was begun and ended; of those that are over the sums alone.
        self._under_way: deque[tuple[float, float, float]] = deque()
        self._waited = self._busy = 0.0
        self._taken = 0

    def done(self, at: float) -> float:
        """Take the next request at a time, s; return when it will have been served."""
        begin = max(at, heapq.heappop(self._free))
        end = begin + next(self._service)
        heapq.heappush(self._free, end)
        self._under_way.append((at, begin, end))
        return end

    def told(self, now: float) -> bytes:
        """Tell it as of a pool: NOW_NS SIZE BUSY_NS WAITING_NS TAKEN, each sum over time in ns, `now` in s."""
        for _ in range(len(self._under_way)):
            came, begin, end = one = self._under_way.popleft()
            if end > now:
                self._under_way.append(one)
            else:
                self._waited, self._busy, self._taken = (
                    self._waited + begin - came,
                    self._busy + end - begin,
                    self._taken + 1,
                )
        waited = self._waited + sum(min(now, begin) - came for came, begin, _ in self._under_way)
        busy = self._busy + sum(max(0.0, now - begin) for _, begin, _ in self._under_way)
        taken = self._taken + sum(begin <= now for _, begin, _ in self._under_way)
        ns = (round(1e9 * x) for x in (now, busy, waited))
        return b"%d %d %d %d %d" % (next(ns), self._size, *ns, taken)


class Queue(asyncio.Protocol):
    """One connection: reads requests and writes answers, whose bodies are empty but that of /pool."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stations: list[Station]) -> None:
        self._loop, self._stations = loop, stations
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what answers are written to."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Begin to serve each request that ends here; none has a body."""
        if data.startswith(b"GET /pool "):
            self._answer(self._stations[0].told(self._loop.time()))
            return
        for _ in range(data.count(b"\r\n\r\n")):
            self._enter(self._loop.time(), 0)

    def _enter(self, at: float, station: int) -> None:
        if station < len(self._stations):
            end = self._stations[station].done(at)
            self._loop.call_at(end, self._enter, end, station + 1)
        else:
            self._answer(b"")

    def _answer(self, body: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(ANSWER % (len(body), body))


def secured(pem: str | None) -> ssl.SSLContext | None:
    """Make the context of a server with this key and certificate; None without a file."""
    if pem is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


async def serve(port: int, shape: str, words: list[str]) -> None:
    """Serve until the process is ended: on a port of 127.0.0.1, stations told as SERVERS:MS.

    Raises:
        OSError: the port cannot be listened on.
        ValueError: a word is no station.
    """
    rng, loop = random.Random(port), asyncio.get_running_loop()
    *_, pem = [None, *(word.removeprefix(TLS) for word in words if word.startswith(TLS))]
    words = [word for word in words if not word.startswith(TLS)]
    sizes = [(int(servers), float(ms) / 1e3) for servers, ms in (word.split(":") for word in words)]
    stations = [Station(servers, times(shape, mean_s, rng)) for servers, mean_s in sizes]
    server = await loop.create_server(lambda: Queue(loop, stations), "127.0.0.1", port, ssl=secured(pem))
    await server.serve_forever()


if __name__ == "__main__":
    # Waits of select have no whole milliseconds, as those of epoll have.
    made = asyncio.SelectorEventLoop(selectors.SelectSelector())
    made.run_until_complete(serve(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
