"""Lays out an Open Liberty server in the folder of the run, with the business as its war."""

import shutil
from collections.abc import Callable
from pathlib import Path

FEATURES = ("servlet-6.0", "enterpriseBeansLite-4.0", "mdb-4.0", "messagingServer-3.0", "messagingClient-3.0",
            "jdbc-4.3", "jndi-1.0", "concurrent-3.0")  # fmt: skip
# What the business looks up, and who names it here; the manager is asked of a class of the server.
NAMES = {"shop.manager": "com.ibm.tx.jta.TransactionManagerFactory", "shop.source": "jdbc/shop",
         "shop.keys": "jdbc/keys", "shop.factory": "jms/factory", "shop.queue": "jms/shop"}  # fmt: skip
# Requests and messages share its threads: large orders that wait for room must leave some to those that make it.
SPARE_THREADS = 8
# Of its queue: what cannot be dealt with comes again, from the sixth time on after 50 ms. As a dead letter it would
# keep its room in the backlog.
SERVER = """\
<server>
  <featureManager>{features}</featureManager>
  <executor coreThreads="{core_threads}"/>
  <httpEndpoint id="defaultHttpEndpoint" host="{address}" httpPort="{port}" httpsPort="-1"/>
  <wasJmsEndpoint enabled="false"/>
  <messagingEngine>
    <queue id="shop" maxMessageDepth="1000000" failedDeliveryPolicy="KEEP_TRYING" redeliveryInterval="50"/>
  </messagingEngine>
  <jmsQueue id="queue" jndiName="jms/shop"><properties.wasJms queueName="shop"/></jmsQueue>
  <jmsConnectionFactory jndiName="jms/factory">
    <connectionManager maxPoolSize="{connections}"/><properties.wasJms/>
  </jmsConnectionFactory>
  <jmsActivationSpec id="ROOT/Consumer" maxEndpoints="2">
    <properties.wasJms destinationRef="queue" maxConcurrency="2"/>
  </jmsActivationSpec>
  <library id="driver"><file name="{jar}"/></library>
{sources}
  <webApplication location="ROOT.war" contextRoot="/"/>
</server>
"""
# Keys have a connection of their own: they are asked for in transactions that hold one, and locks that others wait for.
SOURCE = """\
  <dataSource jndiName="jdbc/{name}" type="javax.sql.XADataSource" statementCacheSize="100">
    <jdbcDriver libraryRef="driver" javax.sql.XADataSource="{class_name}"/>
    <connectionManager minPoolSize="{size}" maxPoolSize="{size}"/>
    <properties {properties}/>
  </dataSource>"""


def liberty(given: dict[str, str], war: Callable[[Path], None]) -> tuple[list[str], dict[str, str]]:
    """Return the words that start it and its variables; OSError where it cannot be laid out."""
    home, user = Path(given["liberty"]), Path(given["state"]) / "usr"
    server = user / "servers/shop"
    (server / "apps").mkdir(parents=True)
    war(server / "apps/ROOT.war")
    (server / "server.xml").write_text(configuration(given, server))
    tools = home / "bin/tools"
    named = {**NAMES, **{f"shop.{name}": given[name] for name in ("seed", "supplier_ms", "station_ms", "backlog")}}
    # What of the JDK is opened to it stands in a file of its own.
    opened = f"@{home}/lib/platform/java/java9.options"
    words = [opened, f"-javaagent:{tools}/ws-javaagent.jar", *(f"-D{name}={value}" for name, value in named.items())]
    return [*words, "-jar", str(tools / "ws-server.jar"), "shop"], {"WLP_USER_DIR": str(user)}


def configuration(given: dict[str, str], server: Path) -> str:
    """Return server.xml, and lay the driver of the database beside it."""
    if given["database"] == "postgres":
        jar, class_name = Path(given["postgresql"]), "org.postgresql.xa.PGXADataSource"
        values = {"serverName": given["database_address"], "portNumber": given["database_port"],
                  "databaseName": "postgres", "user": "bench"}  # fmt: skip
    else:
        jar, class_name = Path(given["h2"]), "org.h2.jdbcx.JdbcDataSource"
        place = "mem:shop;DB_CLOSE_DELAY=-1" if given["database"] == "memory" else f"file:{given['state']}/shop"
        values = {"URL": f"jdbc:h2:{place};LOCK_TIMEOUT=10000", "user": "sa"}
    copied = shutil.copy(jar, server / f"{jar.stem}.jar")
    properties = " ".join(f'{name}="{value}"' for name, value in values.items())
    sizes = {"shop": given["connections"], "keys": 1}
    sources = (
        SOURCE.format(name=name, size=size, class_name=class_name, properties=properties)
        for name, size in sizes.items()
    )
    return SERVER.format(
        features="".join(f"<feature>{name}</feature>" for name in FEATURES), jar=copied,
        sources="\n".join(sources),
        address=given["address"], port=given["port"], connections=given["connections"],
        core_threads=int(given["threads"]) + SPARE_THREADS,
    )  # fmt: skip
