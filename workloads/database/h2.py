"""H2, a database in Java: one file, a server of one process."""

from pathlib import Path

from programs import run

# Its compiler is done within the warm-up, and its collector has one thread: both use CPU time of the database.
OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dh2.bindAddress=127.0.0.1")


def prepare(data: Path, statements: list[str], given: dict[str, str]) -> str:
    """Make the database in a folder; return its release."""
    data.mkdir()
    script = data / "rows.sql"
    script.write_text(";\n".join([*statements, "ANALYZE"]) + ";\n")
    tool = [given["java"], *OPTIONS, "-cp", given["jar"]]
    run([*tool, "org.h2.tools.RunScript", "-url", f"jdbc:h2:{data / 'page'}", "-user", "bench", "-script", str(script)])
    script.unlink()
    return Path(given["jar"]).stem.replace("h2-", "H2 ")


def serve(data: Path, given: dict[str, str]) -> list[str]:
    """Return the command of a server; it refuses no connection."""
    heap = (f"-Xms{given['memory_mib']}m", f"-Xmx{given['memory_mib']}m")
    server = ("org.h2.tools.Server", "-tcp", "-tcpPort", given["port"], "-baseDir", str(data), "-ifExists")
    return [given["java"], *OPTIONS, *heap, "-cp", given["jar"], *server]
