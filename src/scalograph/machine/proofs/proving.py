"""All promises, one after the other, on one machine."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from scalograph.errors import ScalographError
from scalograph.machine.proofs.bench import Bench
from scalograph.machine.proofs.promises import PROMISES, Promise
from scalograph.machine.proofs.proof import DisprovedError, NotProvableError, Proof
from scalograph.run.hosts.base import Host
from scalograph.run.scratch import scratch


def prove(host: Host, tell: Callable[[str], None] = lambda text: None) -> list[Proof]:
    """Run the studies of the sanity workloads, about 20 s, and judge each promise. The machine must be locked.

    Results lie in a temporary folder; only those that a failed proof rests on are kept, and its `fix` says where.

    Args:
        host: to prove.
        tell: is told which study begins.

    Raises:
        HostError: there is no room for results.
        KeyboardInterrupt: somebody ended it.
    """
    kept = set[Path]()
    with scratch("sanity") as folder:
        with Bench(host, folder, tell) as bench:
            proofs = [judged(promise, bench, kept) for promise in PROMISES]
        return _kept(proofs, kept, folder) if kept else proofs


def _kept(proofs: list[Proof], kept: set[Path], folder: Path) -> list[Proof]:
    """The proofs, once what they rest on is where it stays."""
    place = Path(tempfile.mkdtemp(prefix="scalograph-sanity-"))
    for path in kept:
        shutil.move(path, place)
    return [replace(proof, fix=proof.fix.replace(str(folder), str(place))) for proof in proofs]


def judged(promise: Promise, bench: Bench, kept: set[Path]) -> Proof:
    """Judge a promise; folders that a failure rests on are added to `kept`. Never raises a ScalographError."""
    bench.used.clear()
    try:
        return Proof(promise.name, promise.what, "proved", promise.check(bench))
    except NotProvableError as error:
        return Proof(promise.name, promise.what, "not provable", error.why, fix=error.fix)
    except DisprovedError as error:
        found, expected, fix = error.found, error.expected, promise.doubt
    except ScalographError as error:
        first = error.problems[0]
        found, expected, fix = f"{first.where}: {first.found}", first.expected, first.fix or promise.doubt
    folders = sorted(path for path in bench.used if path.is_dir())
    kept |= set(folders)
    told = ", ".join(map(str, folders))
    return Proof(promise.name, promise.what, "failed", found, expected, f"{fix}; kept: {told}" if told else fix)
