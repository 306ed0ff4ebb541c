"""The load driver as its workload.toml starts it; cargo's tests, which `make test` compiles first, leave it built."""

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from scalograph.run.hosts.python_probe.lines import Limits, Speech
from scalograph.study.processes import fill
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from tests.kit.servers import LOAD, needs_driver

HERE = shipped_workload("load")
pytestmark = needs_driver


def argv(**levels: object) -> list[str]:
    """What a study starts, but the program that cargo's tests left."""
    workload = load_workload(HERE)
    values = {name: parameter.default for name, parameter in workload.parameters.items()}
    return [str(LOAD), *fill(workload.argv, {"build": "", **values, **levels})[1:]]


def said(**levels: object) -> tuple[int, str]:
    done = subprocess.run(argv(**levels), capture_output=True, text=True, check=False, env={})
    return done.returncode, done.stderr


def test_the_program_takes_every_parameter_with_its_limits_and_none_beyond() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        target = f"127.0.0.1:{free.getsockname()[1]}"
        code, words = said(targets=target)
        assert (code, "no connection to 127.0.0.1:" in words) == (69, True), words
        for name, parameter in load_workload(HERE).parameters.items():
            levels = [*(parameter.choices or []), parameter.min, parameter.max]
            for level in [level for level in levels if level is not None and name != "clients"]:
                code, words = said(**{"targets": target, name: level})
                assert (code, "no connection" in words) == (69, True), f"{name}={level}: {words}"
    for name, parameter in load_workload(HERE).parameters.items():
        for level in [] if parameter.max is None else [parameter.max + 1]:
            assert parameter.refuse(level)
            code, words = said(**{name: level})
            assert (code, f"{name}={level}: expected" in words) == (69, True), words


@contextmanager
def server(context: ssl.SSLContext | None = None, version: str = "HTTP/1.1") -> Iterator[str]:
    """Answer "hello" until the test ends, over TLS with a context; its address."""

    class Hello(BaseHTTPRequestHandler):
        protocol_version = version

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hello) as found:
        found.daemon_threads = True
        if context is not None:
            found.socket = context.wrap_socket(found.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=found.serve_forever, args=(0.05,)).start()
        try:
            yield f"127.0.0.1:{found.server_port}"
        finally:  # else a test that fails waits for it without end
            found.shutdown()


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_its_lines_follow_the_protocol_and_agree(loop: str) -> None:
    with server() as target:
        levels = {"targets": target, "loop": loop, "contains": "hello", "steady_s": 0.3, "ramp_s": 0.1, "down_s": 0.1}
        done = subprocess.run(argv(**levels, clients=2), capture_output=True, check=True, env={})
    speech = Speech()
    speech.feed(done.stdout, Limits())
    speech.finish()
    assert [phase[0] for phase in speech.phases] == ["ramp", "steady", "down"]
    ((_, start, end, work, cpu),) = speech.iterations
    assert (start, end) == speech.phases[1][1:]
    assert cpu is not None and 0 < cpu < end - start  # one thread, which waits for answers
    assert work == sum(speech.histograms["steady", "request"].values()) == speech.values["requests"][0]
    assert {"rate", "p50_ns", "p90_ns", "p99_ns", "max_ns", "late_p99_ns", "in_flight"} <= speech.values.keys()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    """Make a context of a server, and the file of its certificate, which openssl signs with its own key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("tls")
    key, pem = folder / "key.pem", folder / "certificate.pem"
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", pem]
    named = ["-subj", "/CN=here", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    subprocess.run(["openssl", "req", "-x509", *made, *named], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    return context, pem


SHORT = {"contains": "hello", "steady_s": 0.2, "ramp_s": 0, "clients": 2, "warmup": 4}


def loaded(**levels: object) -> Speech:
    done = subprocess.run(argv(**SHORT, **levels), capture_output=True, check=True, env={})
    speech = Speech()
    speech.feed(done.stdout, Limits())
    speech.finish()
    return speech


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_a_server_is_asked_over_tls_also_where_each_request_connects_anew(
    version: str, certificate: tuple[ssl.SSLContext, Path]
) -> None:
    context, pem = certificate
    with server(context, version) as target:
        values = loaded(targets=target.replace("127.0.0.1", "localhost"), tls="yes", ca=pem).values
        assert values["rate"][0] > 0 and values["errors"] == [0] and "ceiling" not in values
        assert loaded(targets=target, tls="insecure").values["errors"] == [0], "it has another name"


def test_what_is_wrong_with_a_certificate_is_one_sentence(certificate: tuple[ssl.SSLContext, Path]) -> None:
    context, pem = certificate
    with server(context) as target:
        here = target.replace("127.0.0.1", "localhost")
        wrong = "its certificate does not verify: "
        for levels, words in {
            "other name": ({"targets": target, "ca": pem}, wrong),
            "not a certificate": ({"targets": here, "ca": __file__}, "it has no certificate (PEM)"),
            "no file": ({"targets": here, "ca": "/gone"}, "ca=/gone: "),
        }.values():
            code, told = said(**SHORT, **levels, tls="yes")
            assert (code, words in told, told.count("\n")) == (69, True, 1), told
    with server() as plain:
        code, told = said(**SHORT, targets=plain, tls="insecure")
        assert (code, "it does not speak TLS" in told) == (69, True), told
