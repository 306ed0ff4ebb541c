"""The business benchmark: its mix asks for what is there, and its audit names what is wrong, each thing by itself."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scalograph.study.shipped import shipped_workload

HERE = shipped_workload("order-to-build")
PROGRAMS = Path(__file__).parent / "order_to_build"


def constants() -> dict[str, int]:
    text = (HERE / "Population.java").read_text()
    return {name: int(n.replace("_", "")) for name, n in re.findall(r"long ([A-Z_]+) = ([0-9_]+);", text)}


def test_the_mix_is_the_published_one_and_asks_for_what_is_there() -> None:
    weights = {one["name"]: one["weight"] for one in tomllib.loads((HERE / "mix.toml").read_text())["operation"]}
    entry = 32 - weights["work_order"]
    assert (sum(weights.values()), entry / 32) == (32, 25 / 40)
    new = weights["new_order"] + weights["large_order"]
    shares = [new, weights["change_order"], weights["order_status"], weights["customer_status"]]
    assert [share / entry for share in shares] == [0.5, 0.2, 0.2, 0.1]
    assert weights["large_order"] / new == 0.1
    ends = {"customer": "CUSTOMERS", "order": "ORDERS", "item": "ITEMS"}
    operations = tomllib.loads((HERE / "mix.toml").read_text())["operation"]
    ranges = {(name, tuple(values[name])) for one in operations if (values := one["values"]) for name in values}
    asked = {name: span for name, span in ranges if name in ends}
    assert asked == {name: (1, constants()[end]) for name, end in ends.items()}


def database() -> Path | None:
    """The jar of H2, where a study has fetched it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return next(iter(sorted((cache / "scalograph/fetched").glob("*/h2-*.jar"))), None)


needs_java = pytest.mark.skipif(
    database() is None or shutil.which("javac") is None, reason="no H2 fetched, or no javac"
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The business and the programs that test it, compiled: a class path."""
    built = tmp_path_factory.mktemp("built")
    sources = [str(file) for folder in (HERE, PROGRAMS) for file in sorted(folder.glob("*.java"))]
    path = f"{built}:{database()}"
    subprocess.run(
        ["javac", "-J-XX:TieredStopAtLevel=1", "-proc:none", "-d", str(built), "-cp", path, *sources], check=True
    )
    return path


def printed(path: str, program: str) -> str:
    """What a program prints that comes to a good end."""
    argv = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", path, f"shop.{program}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_java
@pytest.mark.parametrize("program", ["Spoiled", "Held", "Joined", "Early", "Broken"])
def test_each_program_prints_what_stands_in_its_file(path: str, program: str) -> None:
    """The audit names what is wrong; a message waits for room, is dealt with once, and any failure is answered."""
    said = re.sub("^part [0-9]+ is short$", "part N is short", printed(path, program), flags=re.MULTILINE)
    assert said == (PROGRAMS / f"{program}.txt").read_text()


@pytest.mark.parametrize(("database", "driver"), [("postgres", "postgresql-1.jar"), ("memory", "h2-2.jar")])
def test_open_liberty_is_laid_out_in_the_folder_of_the_run(tmp_path: Path, database: str, driver: str) -> None:
    (tmp_path / "built/shop").mkdir(parents=True)
    for name in ("built/shop/Shop.class", "postgresql-1.jar", "h2-2.jar", "jakarta-10.jar"):
        (tmp_path / name).touch()
    given = {"server": "liberty", "java": "echo", "build": tmp_path / "built", "liberty": "/opt/wlp", "port": 8081,
             "postgresql": tmp_path / "postgresql-1.jar", "h2": tmp_path / "h2-2.jar", "database": database,
             "classpath": f"{tmp_path}/built:{tmp_path}/h2-2.jar:{tmp_path}/jakarta-10.jar", "database_port": 5433,
             "state": tmp_path / "state", "connections": 7, "threads": 40, "seed": 1}  # fmt: skip
    argv = [sys.executable, "-B", str(HERE / "serve.py"), *(f"{name}={value}" for name, value in given.items())]
    done = subprocess.run([*argv, "--", "-Xmx64m"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("-Xmx64m @/opt/wlp/lib/platform/java/") and done.stdout.endswith(
        "ws-server.jar shop\n"
    )
    server = tmp_path / "state/usr/servers/shop"
    told = ElementTree.parse(server / "server.xml")
    executor = told.find("executor")
    assert executor is not None and int(executor.attrib["coreThreads"]) > 40  # else large orders may take them all
    endpoint, source = told.find("httpEndpoint"), told.find("dataSource/properties")
    assert endpoint is not None and endpoint.attrib | {"host": "127.0.0.1", "httpPort": "8081"} == endpoint.attrib
    assert source is not None and source.get("portNumber") == ("5433" if database == "postgres" else None)
    pools = {one.attrib["jndiName"]: one.find("connectionManager") for one in told.findall("dataSource")}
    sizes = {name: pool.get("maxPoolSize") for name, pool in pools.items() if pool is not None}
    assert sizes == {"jdbc/shop": "7", "jdbc/keys": "1"}
    assert [file.name for file in server.glob("*.jar")] == [driver]
    assert zipfile.ZipFile(server / "apps/ROOT.war").namelist() == ["WEB-INF/classes/shop/Shop.class"]


def test_wildfly_has_a_connection_for_keys_that_no_order_holds(tmp_path: Path) -> None:
    given = {"database": "memory", "connections": "7"}
    shown = f"import sys; sys.path.insert(0, {str(HERE)!r}); import wildfly; print(wildfly.source({given!r}, None))"
    done = subprocess.run([sys.executable, "-B", "-c", shown], capture_output=True, text=True, check=True)
    space = {"ds": "http://www.jboss.org/ironjacamar/schema"}
    pools = ElementTree.fromstring(done.stdout).findall("ds:xa-datasource", space)
    sizes = {one.attrib["pool-name"]: one.findtext("ds:xa-pool/ds:max-pool-size", None, space) for one in pools}
    assert sizes == {"shop": "7", "keys": "1"}


def test_a_message_comes_again_until_it_is_dealt_with(tmp_path: Path) -> None:
    folder = tmp_path / "home/standalone/configuration"
    folder.mkdir(parents=True)
    setting = '<s><address-setting name="#" dead-letter-address="jms.queue.DLQ"/></s>'
    (folder / "standalone-full.xml").write_text(setting)
    shown = f"""\
import pathlib, sys
sys.path.insert(0, {str(HERE)!r})
import liberty, wildfly
home, base = pathlib.Path({str(tmp_path / "home")!r}), pathlib.Path({str(tmp_path / "base")!r})
wildfly.lay_out({{"database": "memory", "connections": "7"}}, home, base, lambda file: file.touch())
print(liberty.SERVER)
"""
    done = subprocess.run([sys.executable, "-B", "-c", shown], capture_output=True, text=True, check=True)
    queue = ElementTree.fromstring(done.stdout.replace("{sources}", "")).find("messagingEngine/queue")
    assert queue is not None and queue.attrib["failedDeliveryPolicy"] == "KEEP_TRYING"
    told = ElementTree.parse(tmp_path / "base/configuration/standalone-full.xml").find("address-setting")
    assert told is not None and (told.attrib["max-delivery-attempts"], told.attrib["name"]) == ("-1", "#")
