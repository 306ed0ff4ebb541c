"""Lays out a WildFly server in the folder of the run, with the business as its war."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

# Listeners that nobody asks anything: the kernel gives them any port.
PORTS = ("jboss.https.port", "jboss.management.http.port", "jboss.management.https.port")
# What the business looks up.
LOOKUPS = {"shop.manager": "java:/TransactionManager", "shop.source": "java:/jdbc/shop", "shop.keys": "java:/jdbc/keys",
           "shop.factory": "java:/JmsXA", "shop.queue": "java:global/jms/shop"}  # fmt: skip
# What it is told.
GIVEN = ("seed", "supplier_ms", "station_ms", "backlog")
# Two sessions take messages.
CONSUMER = """\
<ejb-jar xmlns="https://jakarta.ee/xml/ns/jakartaee" version="4.0">
  <enterprise-beans>
    <message-driven>
      <ejb-name>Consumer</ejb-name>
      <activation-config>
        <activation-config-property>
          <activation-config-property-name>destinationLookup</activation-config-property-name>
          <activation-config-property-value>java:global/jms/shop</activation-config-property-value>
        </activation-config-property>
        <activation-config-property>
          <activation-config-property-name>destinationType</activation-config-property-name>
          <activation-config-property-value>jakarta.jms.Queue</activation-config-property-value>
        </activation-config-property>
        <activation-config-property>
          <activation-config-property-name>maxSession</activation-config-property-name>
          <activation-config-property-value>2</activation-config-property-value>
        </activation-config-property>
      </activation-config>
    </message-driven>
  </enterprise-beans>
</ejb-jar>
"""
FIXED_PORTS = ("3528", "3529")
# Of every queue: what cannot be dealt with comes again after so many ms. Among the dead letters it would keep its room
# in the backlog.
QUEUE = '<address-setting name="#"'
AGAIN = f'{QUEUE} max-delivery-attempts="-1" redelivery-delay="50"'
# As WildFly's own start script has them.
EXPORTS = ("java.desktop/sun.awt", "java.naming/com.sun.jndi.ldap", "java.naming/com.sun.jndi.url.ldap",
           "java.naming/com.sun.jndi.url.ldaps", "jdk.naming.dns/com.sun.jndi.dns")  # fmt: skip
OPENS = ("java.base/java.lang", "java.base/java.lang.invoke",
         "java.base/java.lang.reflect", "java.base/java.io", "java.base/java.net", "java.base/java.security",
         "java.base/java.util", "java.base/java.util.concurrent", "java.management/javax.management",
         "java.naming/javax.naming")  # fmt: skip
# Keys have a connection of their own: they are asked for in transactions that hold one, and locks that others wait for.
SOURCES = """\
<?xml version="1.0" encoding="UTF-8"?>
<datasources xmlns="http://www.jboss.org/ironjacamar/schema">
{sources}
</datasources>
"""
SOURCE = """\
  <xa-datasource jndi-name="java:/jdbc/{name}" pool-name="{name}">
{properties}
    <xa-datasource-class>{class_name}</xa-datasource-class>
    <driver>{driver}</driver>
    <xa-pool><min-pool-size>{connections}</min-pool-size><max-pool-size>{connections}</max-pool-size></xa-pool>
    <security><user-name>{user}</user-name></security>
    <statement><prepared-statement-cache-size>100</prepared-statement-cache-size></statement>
    <recovery no-recovery="true"/>
  </xa-datasource>"""


def wildfly(given: dict[str, str], write_war: Callable[[Path], None]) -> list[str]:
    """Return the words that start it; OSError where it cannot be laid out."""
    home, base = Path(given["wildfly"]), Path(given["state"]) / "standalone"
    lay_out(given, home, base, write_war)
    properties = {"jboss.home.dir": home, "jboss.server.base.dir": base, "jboss.bind.address": given["address"],
                  "jboss.bind.address.management": "127.0.0.1", "jboss.bind.address.unsecure": "127.0.0.1",
                  "jboss.http.port": given["port"], **dict.fromkeys(PORTS, 0),
                  **LOOKUPS,
                  **{f"shop.{name}": given[name] for name in GIVEN}}  # fmt: skip
    opened = {"exports": EXPORTS, "opens": OPENS}
    modular = [f"--add-{how}={one}=ALL-UNNAMED" for how, packages in opened.items() for one in packages]
    named = [f"-D{name}={value}" for name, value in properties.items()]
    modules = ["-jar", str(home / "jboss-modules.jar"), "-mp", str(home / "modules"), "org.jboss.as.standalone"]
    return [*modular, *named, *modules, "-c", "standalone-full.xml", *named]


def lay_out(given: dict[str, str], home: Path, base: Path, write_war: Callable[[Path], None]) -> None:
    """Write configuration, war and data source."""
    shutil.copytree(home / "standalone/configuration", base / "configuration")
    configuration = base / "configuration/standalone-full.xml"
    text = configuration.read_text()
    for port in FIXED_PORTS:
        text = text.replace(f'port="{port}"', 'port="0"')
    if QUEUE not in text:
        raise OSError("standalone-full.xml has no " + QUEUE)
    configuration.write_text(text.replace(QUEUE, AGAIN))
    deployments = base / "deployments"
    deployments.mkdir()
    write_war(deployments / "ROOT.war")
    with zipfile.ZipFile(deployments / "ROOT.war", "a") as war:
        war.writestr("WEB-INF/ejb-jar.xml", CONSUMER)
    (deployments / "shop-ds.xml").write_text(source(given, deployments))


def source(given: dict[str, str], deployments: Path) -> str:
    """Return the data sources; the driver of PostgreSQL is deployed beside it, that of H2 comes with the server."""
    if given["database"] == "postgres":
        jar = Path(given["postgresql"])
        shutil.copy(jar, deployments / jar.name)
        at = {"ServerName": given["database_address"], "PortNumber": given["database_port"]}
        values = {**at, "DatabaseName": "postgres"}
        user, driver, class_name = "bench", jar.name, "org.postgresql.xa.PGXADataSource"
    else:
        place = "mem:shop;DB_CLOSE_DELAY=-1" if given["database"] == "memory" else f"file:{given['state']}/shop"
        values = {"URL": f"jdbc:h2:{place};LOCK_TIMEOUT=10000"}
        user, driver, class_name = "sa", "h2", "org.h2.jdbcx.JdbcDataSource"
    tag = "xa-datasource-property"
    lines = (f'    <{tag} name="{name}">{value}</{tag}>' for name, value in values.items())
    known = {"user": user, "driver": driver, "class_name": class_name, "properties": "\n".join(lines)}
    sizes = {"shop": given["connections"], "keys": 1}
    sources = (SOURCE.format(name=name, connections=size, **known) for name, size in sizes.items())
    return SOURCES.format(sources="\n".join(sources))
