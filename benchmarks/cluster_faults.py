"""Break a small Slurm at random instants while a study runs on it, resume until it is complete, and count what is left.

    benchmarks/cluster_faults.py [--faults 200] [--seed 1]

Each round starts a study of 6 runs, does one fault at a random instant, and resumes while the session ends early. Then
every planned run must be in the journal once, and nothing of ours in the queue or among the processes.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = [sys.executable, str(ROOT / "scripts" / "try_cluster.py")]
STUDY = """\
version = 1
name = "faults"
title = "What is left after a fault?"
work = "total"
seed = 1

[workload]
command = ["sleep", "0.631"]

[factors.nodes]
control = "cluster:nodes"
levels = [1, 2]

[protocol]
runs = 3
timeout = "20s"
node_reference = "0s"

[baseline]
nodes = 1
"""
N_RUNS, MOST_RESUMES, ROUND_S = 6, 6, 240.0


class Cluster:
    """The small cluster: what can be done to it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.conf = folder, folder / "slurm.conf"
        subprocess.run([*SCRIPT, "start", str(folder), "--nodes", "2"], check=True, stdout=subprocess.DEVNULL)
        os.environ["SLURM_CONF"] = str(self.conf)

    def daemon(self, *argv: str) -> None:
        subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def kill(self, name: str) -> None:
        with suppress(ProcessLookupError, FileNotFoundError, ValueError):
            os.kill(int((self.folder / f"{name}.pid").read_text()), signal.SIGKILL)

    def kill_controller(self, session: "subprocess.Popen[bytes]") -> None:
        self.kill("slurmctld")
        time.sleep(random.uniform(0, 3))
        self.daemon("slurmctld", "-D", "-f", str(self.conf))

    def kill_node(self, session: "subprocess.Popen[bytes]") -> None:
        self.kill("n2")
        time.sleep(random.uniform(0, 3))
        self.daemon("slurmd", "-D", "-f", str(self.conf), "-N", "n2")

    def cancel(self, session: "subprocess.Popen[bytes]") -> None:
        for job in queue():
            subprocess.run(["scancel", job], check=False)

    def node_down(self, session: "subprocess.Popen[bytes]") -> None:
        for state in ("down", "resume"):
            subprocess.run(
                ["scontrol", "update", "NodeName=n2", f"State={state.upper()}", "Reason=a fault"], check=False
            )
            time.sleep(1)

    def kill_step(self, session: "subprocess.Popen[bytes]") -> None:
        for pid in pids("sleep\0000.631"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def kill_session(self, session: "subprocess.Popen[bytes]") -> None:
        session.kill()

    def interrupt(self, session: "subprocess.Popen[bytes]") -> None:
        session.send_signal(signal.SIGINT)

    def hang_up(self, session: "subprocess.Popen[bytes]") -> None:
        session.send_signal(signal.SIGHUP)


FAULTS: list[Callable[[Cluster, "subprocess.Popen[bytes]"], None]] = [
    Cluster.kill_controller, Cluster.kill_node, Cluster.cancel, Cluster.node_down, Cluster.kill_step,
    Cluster.kill_session, Cluster.interrupt, Cluster.hang_up,
]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    wrong, done, resumes = list[str](), Counter[str](), 0
    with TemporaryDirectory(prefix="scalograph-faults-") as home:
        cluster = Cluster(Path(home) / "cluster")
        try:
            for n in range(options.faults):
                fault = FAULTS[n % len(FAULTS)]
                left, n_resumes = break_once(cluster, fault, Path(home) / f"round-{n}")
                done[fault.__name__] += 1
                resumes += n_resumes
                wrong += [f"round {n}, {fault.__name__}: {text}" for text in left]
                print(f"{n + 1} {fault.__name__}: {n_resumes} resumed, {'; '.join(left) or 'nothing lost'}", flush=True)
        finally:
            subprocess.run([*SCRIPT, "stop", str(cluster.folder)], check=True)
    print(json.dumps({"faults": sum(done.values()), "by_kind": done, "resumes": resumes, "wrong": wrong}))
    return bool(wrong)


def break_once(
    cluster: Cluster, fault: Callable[[Cluster, "subprocess.Popen[bytes]"], None], folder: Path
) -> tuple[list[str], int]:
    """Return what is wrong after a fault and all resumes, and how many of these there were."""
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY)
    session = start(folder)
    time.sleep(random.uniform(0.5, 7.0))
    fault(cluster, session)
    await_nodes(time.monotonic() + 60)
    until, n_resumes = time.monotonic() + ROUND_S, 0
    while wait(session, until) not in (0, 4, 5) and n_resumes < MOST_RESUMES:
        await_nodes(until)
        session, n_resumes = start(folder, "--resume"), n_resumes + 1
    return [*look(folder)], n_resumes


def start(folder: Path, *more: str) -> "subprocess.Popen[bytes]":
    # Killed before its folder was there, it is started anew.
    more = more if (folder / "results" / "journal.jsonl").exists() else ()
    argv = [sys.executable, "-m", "scalograph", "run", "study.toml", "--host", "slurm", "-o", "results", *more]
    with (folder / "output").open("ab") as output:
        return subprocess.Popen(argv, cwd=folder, stdout=output, stderr=output, start_new_session=True)


def wait(session: "subprocess.Popen[bytes]", until: float) -> int:
    try:
        return session.wait(max(1.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        session.kill()
        return session.wait()


def await_nodes(until: float) -> None:
    while time.monotonic() < until:
        # A controller that died before it had saved that a job runs drains its nodes.
        subprocess.run(["scontrol", "update", "NodeName=n1,n2", "State=RESUME"], capture_output=True, check=False)
        done = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], capture_output=True, text=True, check=False)
        if set(done.stdout.split()) <= {"idle", "allocated", "mixed", "completing"} and done.stdout:
            return
        time.sleep(0.5)


def look(folder: Path) -> list[str]:
    lines = (folder / "results" / "journal.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    runs = Counter(event["run"] for event in events if event["event"] == "run")
    jobs = {event["run"]: event["record"].get("job") for event in events if event["event"] == "run"}
    wrong = [f"{run} is there {n} times" for run, n in runs.items() if n > 1]
    if len(runs) != N_RUNS:
        wrong.append(f"{len(runs)} of {N_RUNS} runs")
    wrong += [f"{run} was lost with its job" for run, job in jobs.items() if job is None]
    limit = time.monotonic() + 30
    while (left := [*queue(), *map(str, pids("sleep\0000.631"))]) and time.monotonic() < limit:
        time.sleep(0.2)
    return wrong + ([f"left: {' '.join(left)}"] if left else [])


def queue() -> list[str]:
    done = subprocess.run(["squeue", "-h", "-o", "%i"], capture_output=True, text=True, check=False)
    return done.stdout.split()


def pids(words: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if words in (folder / "cmdline").read_text():
                found.append(int(folder.name))
    return found


if __name__ == "__main__":
    sys.exit(main())
