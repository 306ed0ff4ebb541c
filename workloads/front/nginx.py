"""nginx: one process of one thread that keeps its connections to clients and servers open."""

from pathlib import Path

VERSION = "-v"


def configuration(port: int, targets: list[str], state: Path) -> str:
    """Return what it listens on and whom it asks; all its files are in a folder of the run."""
    servers = "\n".join(f"        server {target};" for target in targets)
    folders = "\n".join(
        f'    {kind}_temp_path "{state}/{kind}";' for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return f"""\
daemon off;
master_process off;
pid "{state}/pid";
error_log stderr warn;
events {{
    worker_connections 4000;
}}
http {{
    access_log off;
{folders}
    keepalive_timeout 1h;
    keepalive_requests 1000000000;
    upstream servers {{
{servers}
        keepalive 1000;
        keepalive_requests 1000000000;
        keepalive_timeout 1h;
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://servers;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }}
    }}
}}
"""


def arguments(file: Path) -> list[str]:
    """Return the arguments of a process that reads nothing else."""
    return ["-p", str(file.parent), "-e", "stderr", "-c", str(file)]
