#!/usr/bin/env python3
"""Start and stop a Slurm cluster of a few nodes on this machine, in one folder, without privileges: to try and to test.

    scripts/try_cluster.py start FOLDER [--nodes 4]     prints the line that lets Slurm's commands find it
    scripts/try_cluster.py stop FOLDER                  ends all that it started, and removes the folder

It listens on 127.0.0.1 only. Its nodes are one machine, so times measured on it mean nothing.
"""

import argparse
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

PACKAGES = "slurm-wlm munge"
MARK = "# a cluster to try, by scripts/try_cluster.py\n"
# Debian keeps its daemons where the PATH of a user does not look.
os.environ["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"
START_S, STOP_S, PAUSE_S, CALL_S = 30.0, 10.0, 0.1, 20.0
CPUS, MEMORY_MIB = 4, 1024

CONF = """\
{mark}ClusterName=try
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
# Else both listen on all addresses.
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
SlurmdSpoolDir={folder}/spool-%n
# Of each node: the ranks of MPI meet in it.
TmpFS={folder}/tmp-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog={folder}/task-prolog
SwitchType=switch/none
MpiDefault={mpi}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/completed-jobs
JobRequeue=0
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=15
KillWait=2
MinJobAge=300
# All nodes are one machine: two jobs at once would disturb each other.
Licenses=machine:1
{nodes}
PartitionName=try Nodes=ALL Default=YES MaxTime=60 State=UP OverSubscribe=EXCLUSIVE
"""


# Nodes of one name would share the memory of their ranks, and they are reached on loopback only. Ranks that connect
# when they first meet lose each other there now and then.
TASK_PROLOG = """\
#!/bin/sh
echo export OMPI_MCA_btl=tcp,self
echo export OMPI_MCA_btl_tcp_if_include=lo
echo export OMPI_MCA_mpi_preconnect_mpi=1
echo export OMPI_MCA_mpi_yield_when_idle=1
"""


def main(argv: Sequence[str]) -> int:
    """Carry out one of both commands. Returns the exit code: 0, or 3 with a message."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("start", "stop"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=4, choices=range(1, 33), metavar="1..32")
    options = parser.parse_args(argv)
    folder = options.folder.absolute()
    try:
        if options.command == "stop":
            stop(folder)
        else:
            print(f"export SLURM_CONF={start(folder, options.nodes)}")
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    return 0


def start(folder: Path, n_nodes: int) -> Path:
    """Start the cluster in a folder that is missing or empty, and return its slurm.conf once all nodes are idle.

    Raises RuntimeError: a program is missing, the folder is in use, or the nodes do not come up; then all is ended.
    """
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sinfo") if shutil.which(name) is None]
    if missing:
        raise RuntimeError(f"no {', '.join(missing)} on PATH; install with: apt-get install {PACKAGES}")
    if folder.exists() and any(folder.iterdir()):
        raise RuntimeError(f"{folder} is not empty; name another folder, or stop the cluster in it")
    if len(str(folder)) > 80:
        raise RuntimeError(f"{folder} is too long for the path of a socket; name a shorter one")
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    conf = folder / "slurm.conf"
    try:
        _write(folder, conf, n_nodes)
        _start_daemons(folder, conf, n_nodes)
    except BaseException:
        logs = "\n".join(_last_lines(folder))
        stop(folder)
        if logs:
            print(logs, file=sys.stderr)
        raise
    return conf


def stop(folder: Path) -> None:
    """End every process of the cluster and of its jobs, and remove the folder. Raises RuntimeError: it is not ours."""
    conf = folder / "slurm.conf"
    if not folder.exists():
        return
    if not conf.is_file() or not conf.read_text(encoding="utf-8").startswith(MARK):
        raise RuntimeError(f"{folder} holds no cluster of this script")
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in _processes(conf):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        if _await(lambda: not [*_processes(conf)], STOP_S):
            break
    else:
        raise RuntimeError(f"processes do not end: {[*_processes(conf)]}")
    shutil.rmtree(folder)


def _write(folder: Path, conf: Path, n_nodes: int) -> None:
    controller, *ports = _free_ports(1 + n_nodes)
    nodes = "\n".join(
        f"NodeName=n{n} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={CPUS} RealMemory={MEMORY_MIB}"
        f" Feature={'odd' if n % 2 else 'even'}"
        for n, port in enumerate(ports, 1)
    )
    user = _user()
    conf.write_text(
        CONF.format(
            mark=MARK, host=socket.gethostname(), controller=controller, user=user, folder=folder, nodes=nodes,
            mpi="pmix" if _has_pmix() else "none",
        ),
        encoding="utf-8",
    )  # fmt: skip
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    prolog = folder / "task-prolog"
    prolog.write_text(TASK_PROLOG, encoding="utf-8")
    prolog.chmod(0o755)
    (folder / "state").mkdir()
    for n in range(1, n_nodes + 1):
        (folder / f"spool-n{n}").mkdir()
        (folder / f"tmp-n{n}").mkdir()


def _has_pmix() -> bool:
    """Tell whether Slurm can start the ranks of MPI itself."""
    return any(Path("/usr").glob("lib*/**/slurm*/mpi_pmix.so"))


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def _free_ports(n: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(n)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


def _start_daemons(folder: Path, conf: Path, n_nodes: int) -> None:
    files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    munge = [f"--{option}={folder}/munge.{name}" for option, name in files.items()]
    # By force: it would have every user reach its socket, and this cluster is for one.
    munge.append("--force")
    # In a session of their own, and with the mark by which `stop` finds them and what they started.
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    commands = [["munged", "--foreground", *munge], ["slurmctld", "-D", "-f", str(conf)]]
    commands += [["slurmd", "-D", "-f", str(conf), "-N", f"n{n}"] for n in range(1, n_nodes + 1)]
    for number, command in enumerate(commands):
        with (folder / f"output-{number}.log").open("wb") as output:
            subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=folder,
                start_new_session=True,
            )  # fmt: skip
        if number == 0 and not _await((folder / "munge.socket").exists, START_S):
            raise RuntimeError("munged did not start")
    if not _await(lambda: _n_idle(environment) == n_nodes, START_S):
        raise RuntimeError(f"not all of {n_nodes} nodes were idle within {START_S:g} s")


def _n_idle(environment: dict[str, str]) -> int:
    done = subprocess.run(
        ["sinfo", "--noheader", "--Node", "--format=%T"], env=environment, capture_output=True, text=True,
        timeout=CALL_S, check=False,
    )  # fmt: skip
    return done.stdout.split().count("idle")


def _processes(conf: Path) -> Iterator[int]:
    """Yield the processes that were started with this slurm.conf, other than this one and those around it."""
    mark, around = f"SLURM_CONF={conf}".encode(), {*_ancestors(os.getpid())}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) not in around:
            with suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 0:
        yield pid
        pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


def _await(condition: Callable[[], bool], limit_s: float) -> bool:
    until = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(PAUSE_S)
    return True


def _last_lines(folder: Path) -> Iterator[str]:
    for file in sorted(folder.glob("*.log")):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()[-2:]:
            yield f"{file.name}: {line}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
