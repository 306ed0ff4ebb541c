"""Is less than the least really too little? Servers in C, Python, Java and Go, with less than `find size` says.

Each server holds a working set and counts for each request. `find size` says what memory, and what quota, it needs at
least for a rate and a limit of p99; then ten runs are made with 5% less than the lower end: all must be killed, or
beyond the limit. Languages whose compiler is missing are left out.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from command_common import ENVIRONMENT, Figure, command, main

N_BELOW, LESS, LIMIT_MS, RATE = 10, 0.95, 200, 50
WORKING_SET, COUNTS = 24, 200_000  # MiB; additions for each request, which take a millisecond or a few
# What may be tried, and how it is written.
AMOUNTS = {"memory": ("4M:512M", "M"), "quota": ("0.02:1", "")}
GO = "/usr/local/go/bin/go"

C_SERVER = r"""
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define MOST 256
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
int main(int argc, char **argv) {
    size_t size = (size_t)atoi(argv[2]) << 20;
    char *held = malloc(size), text[4096];
    memset(held, 1, size);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1, n = 1;
    struct pollfd fds[MOST] = {{.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN}};
    setsockopt(fds[0].fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fds[0].fd, (void *)&at, sizeof at) || listen(fds[0].fd, 128)) return 1;
    for (volatile unsigned long sum = 0;;) {
        poll(fds, n, -1);
        for (int i = n - 1; i > 0; i--) {
            if (!fds[i].revents) continue;
            if (read(fds[i].fd, text, sizeof text) <= 0) {
                close(fds[i].fd);
                fds[i] = fds[--n];
                continue;
            }
            for (long k = 0; k < atol(argv[3]); k++) sum += held[(k * 4096) % size];
            if (write(fds[i].fd, answer, sizeof answer - 1) < 0) return 1;
        }
        if (fds[0].revents && n < MOST)
            fds[n++] = (struct pollfd){.fd = accept(fds[0].fd, 0, 0), .events = POLLIN};
    }
}
"""
PYTHON_SERVER = """
import socketserver, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
held, counts = bytearray(b"1") * (int(sys.argv[2]) << 20), int(sys.argv[3]) // 5
class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        for k in range(counts):
            held[(k * 4096) % len(held)]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *words):
        pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
"""
JAVA_SERVER = """
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
public class Held {
    static volatile long sum;
    public static void main(String[] words) throws Exception {
        byte[] held = new byte[Integer.parseInt(words[1]) << 20];
        java.util.Arrays.fill(held, (byte) 1);
        long counts = Long.parseLong(words[2]);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])), 128);
        server.createContext("/", exchange -> {
            long own = 0;
            for (long k = 0; k < counts; k++) own += held[(int) (k * 4096 % held.length)];
            sum = own;
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
    }
}
"""
GO_SERVER = """
package main

import ("net/http"; "os"; "strconv")

var sum int

func main() {
    size, _ := strconv.Atoi(os.Args[2])
    counts, _ := strconv.Atoi(os.Args[3])
    held := make([]byte, size<<20)
    for i := range held { held[i] = 1 }
    http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
        own := 0
        for k := 0; k < counts; k++ { own += int(held[(k*4096)%len(held)]) }
        sum = own
    })
    http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
"""


def built(folder: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """Build the servers; yield the name of each language, and the command without its arguments."""
    sources = {"held.c": C_SERVER, "held.py": PYTHON_SERVER, "Held.java": JAVA_SERVER, "held.go": GO_SERVER}
    for name, text in sources.items():
        (folder / name).write_text(text)
    go = shutil.which("go") or (GO if Path(GO).is_file() else None)
    compilers = {
        "C": (shutil.which("cc"), ["-O1", "-o", "held", "held.c"], [str(folder / "held")]),
        "Python": (sys.executable, ["-c", ""], [sys.executable, str(folder / "held.py")]),
        "Java": (shutil.which("javac"), ["Held.java"], ["java", "-cp", str(folder), "Held"]),
        "Go": (go, ["build", "-o", "held-go", "held.go"], [str(folder / "held-go")]),
    }
    for language, (compiler, arguments, argv) in compilers.items():
        if compiler is not None:
            environ = {**ENVIRONMENT, "GOCACHE": str(folder / "cache"), "GO111MODULE": "off"}
            subprocess.run([compiler, *arguments], cwd=folder, env=environ, check=True, capture_output=True)
            yield language, argv


def called(folder: Path, words: Sequence[str], results: str) -> Mapping[str, Any]:
    """Return the document that a command prints."""
    argv = command(*words, "--json", "--wait-lock", "10m", "-o", str(folder / results))
    done = subprocess.run(argv, env=ENVIRONMENT, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4, 5):
        raise SystemExit(f"{results}: exit code {done.returncode}: {done.stderr[-500:]}")
    document: Mapping[str, Any] = json.loads(done.stdout)
    return document


def runs_below(folder: Path, server: Sequence[str], amount: str, level: float, results: str) -> tuple[int, int, int]:
    """Make ten runs with a level; return how many failed, were beyond the limit, and kept it."""
    given = (f"--{amount}", f"{level:.4g}{AMOUNTS[amount][1]}", *(() if amount == "quota" else ("--cpus", "1")))
    words = ("load", *server, *given, *(("--cpus", "1") if amount == "quota" else ()))
    called(folder, (*words, "--runs", str(N_BELOW), "--max-reruns", "0"), results)
    failed = beyond = kept = 0
    for line in (folder / results / "journal.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "run" and not event["run"].startswith("w"):
            record = event["record"]
            took = [part["values"]["p99_ns"][0] for part in record["values"] if "p99_ns" in part["values"]]
            is_ok = record["run"]["status"] == "ok"
            failed += not is_ok
            beyond += is_ok and (not took or took[0] > LIMIT_MS * 1e6)
            kept += is_ok and bool(took) and took[0] <= LIMIT_MS * 1e6
    return failed, beyond, kept


def figures(quick: bool) -> Iterator[Figure]:
    """What each server needs, and how many of ten runs with less kept the limit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for language, argv in built(folder):
            serve = " ".join([*argv, "{port}", str(WORKING_SET), str(COUNTS)])
            server = ["--serve", serve, "--get", "http://127.0.0.1:{port}/", "--rate", str(RATE)]
            for amount in ("memory",) if quick else AMOUNTS:
                words = ("find", "size", *server, "--limit", f"p99<{LIMIT_MS}ms", "--cpus", "1")
                found = called(folder, (*words, f"--{amount}", AMOUNTS[amount][0]), f"{language}-{amount}")
                need = next(iter(found["needs"]), {"need": {"low": None}})["need"]
                if need["low"] is None:
                    yield Figure(f"{language}, {amount}: without an answer", 1, "", 0)
                    continue
                text = f"{need['value']:.3g} [{need['low']:.3g}, {need['high']:.3g}]; together {found['together']}"
                yield Figure(
                    f"{language}, {amount}: least", need["value"], "MiB" if amount == "memory" else "CPUs", None, text
                )
                failed, beyond, kept = runs_below(
                    folder, server, amount, LESS * need["low"], f"{language}-{amount}-less"
                )
                note = f"{failed} failed, {beyond} beyond the limit"
                yield Figure(f"{language}, {amount}: of {N_BELOW} runs with 5% less, kept it", kept, "runs", 0, note)


if __name__ == "__main__":
    main(figures, "memory alone")
