"""Becomes the server: the JDK's own, or WildFly with the business as a war in a folder of the run."""

import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import NoReturn

USAGE, UNAVAILABLE = 64, 69
OWN = ("port", "database", "database_port", "state", "connections", "threads", "consumers", "station_ms", "supplier_ms",
       "seed")  # fmt: skip
NAMES = ("server", "java", "classpath", "build", "wildfly", "postgresql", *OWN)
# Listeners that nobody asks anything: the kernel gives them any port.
PORTS = ("jboss.https.port", "jboss.management.http.port", "jboss.management.https.port")
FIXED_PORTS = ("3528", "3529")
# As WildFly's own start script has them.
EXPORTS = ("java.desktop/sun.awt", "java.naming/com.sun.jndi.ldap", "java.naming/com.sun.jndi.url.ldap",
           "java.naming/com.sun.jndi.url.ldaps", "jdk.naming.dns/com.sun.jndi.dns")  # fmt: skip
OPENS = ("java.base/java.lang", "java.base/java.lang.invoke",
         "java.base/java.lang.reflect", "java.base/java.io", "java.base/java.net", "java.base/java.security",
         "java.base/java.util", "java.base/java.util.concurrent", "java.management/javax.management",
         "java.naming/javax.naming")  # fmt: skip
SOURCE = """\
<?xml version="1.0" encoding="UTF-8"?>
<datasources xmlns="http://www.jboss.org/ironjacamar/schema">
  <xa-datasource jndi-name="java:/jdbc/shop" pool-name="shop">
{properties}
    <xa-datasource-class>{class_name}</xa-datasource-class>
    <driver>{driver}</driver>
    <xa-pool><min-pool-size>{connections}</min-pool-size><max-pool-size>{connections}</max-pool-size></xa-pool>
    <security><user-name>{user}</user-name></security>
    <statement><prepared-statement-cache-size>100</prepared-statement-cache-size></statement>
    <recovery no-recovery="true"/>
  </xa-datasource>
</datasources>
"""


def main() -> None:
    """Become the server."""
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    given = parse(words[:at])
    options = words[at + 1 :]
    if given["server"] == "jdk":
        named = [f"{name}={given[name]}" for name in OWN]
        become([given["java"], *options, "-cp", given["classpath"], "shop.Shop", *named])
    become([given["java"], *options, *wildfly(given)])


def end(code: int, text: str) -> NoReturn:
    """End the program with one sentence (protocol/workload.md)."""
    print(text, file=sys.stderr)
    sys.exit(code)


def parse(words: list[str]) -> dict[str, str]:
    """Return the values by name; a wrong name ends the program."""
    given = dict.fromkeys(NAMES, "")
    for name, _, text in (word.partition("=") for word in words):
        if name not in given:
            end(USAGE, f"arguments: found {name[:40]}, expected one of {', '.join(NAMES)}")
        given[name] = text
    return given


def become(argv: list[str]) -> NoReturn:
    """Be the process that is waited for and ended."""
    os.execvp(argv[0], argv)  # noqa: S606 - no shell, and its words come from the study


def wildfly(given: dict[str, str]) -> list[str]:
    """Lay out a server in the folder of the run, and return what starts it."""
    home, base = Path(given["wildfly"]), Path(given["state"]) / "standalone"
    try:
        lay_out(given, home, base)
    except (OSError, shutil.Error) as error:
        end(UNAVAILABLE, f"state: the server could not be laid out ({str(error)[:300]})")
    properties = {"jboss.home.dir": home, "jboss.server.base.dir": base, "jboss.bind.address": "127.0.0.1",
                  "jboss.bind.address.management": "127.0.0.1", "jboss.bind.address.unsecure": "127.0.0.1",
                  "jboss.http.port": given["port"], **dict.fromkeys(PORTS, 0),
                  **{f"shop.{name}": given[name] for name in ("seed", "supplier_ms", "station_ms")}}  # fmt: skip
    opened = {"exports": EXPORTS, "opens": OPENS}
    modular = [f"--add-{how}={one}=ALL-UNNAMED" for how, packages in opened.items() for one in packages]
    named = [f"-D{name}={value}" for name, value in properties.items()]
    modules = ["-jar", str(home / "jboss-modules.jar"), "-mp", str(home / "modules"), "org.jboss.as.standalone"]
    return [*modular, *named, *modules, "-c", "standalone-full.xml", *named]


def lay_out(given: dict[str, str], home: Path, base: Path) -> None:
    """Write configuration, war and data source."""
    shutil.copytree(home / "standalone/configuration", base / "configuration")
    configuration = base / "configuration/standalone-full.xml"
    text = configuration.read_text()
    for port in FIXED_PORTS:
        text = text.replace(f'port="{port}"', 'port="0"')
    configuration.write_text(text)
    deployments = base / "deployments"
    deployments.mkdir()
    with zipfile.ZipFile(deployments / "ROOT.war", "w") as war:
        for file in sorted(Path(given["build"]).rglob("*.class")):
            war.write(file, f"WEB-INF/classes/{file.relative_to(given['build'])}")
    (deployments / "shop-ds.xml").write_text(source(given, deployments))


def source(given: dict[str, str], deployments: Path) -> str:
    """Return the data source; the driver of PostgreSQL is deployed beside it, that of H2 comes with the server."""
    if given["database"] == "postgres":
        jar = Path(given["postgresql"])
        shutil.copy(jar, deployments / jar.name)
        values = {"ServerName": "127.0.0.1", "PortNumber": given["database_port"], "DatabaseName": "postgres"}
        user, driver, class_name = "bench", jar.name, "org.postgresql.xa.PGXADataSource"
    else:
        place = "mem:shop;DB_CLOSE_DELAY=-1" if given["database"] == "memory" else f"file:{given['state']}/shop"
        values = {"URL": f"jdbc:h2:{place};LOCK_TIMEOUT=10000"}
        user, driver, class_name = "sa", "h2", "org.h2.jdbcx.JdbcDataSource"
    tag = "xa-datasource-property"
    lines = (f'    <{tag} name="{name}">{value}</{tag}>' for name, value in values.items())
    known = {"user": user, "driver": driver, "class_name": class_name, "connections": given["connections"]}
    return SOURCE.format(properties="\n".join(lines), **known)


if __name__ == "__main__":
    main()
