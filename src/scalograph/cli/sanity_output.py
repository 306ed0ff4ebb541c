"""`scalograph doctor --sanity`: run the proofs, print a table and one sentence."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scalograph.cli.console import emit_json, out, printable, say, tell

if TYPE_CHECKING:
    from scalograph.machine.proofs.proof import Proof

_STYLES = {"proved": "green", "failed": "red", "not provable": "yellow"}


def sanity(json: bool) -> int:
    """Run the proofs under the machine lock; return 3 where one failed.

    Args:
        json: print one document instead of a table.

    Returns:
        Exit code 3 where a proof failed, else 0: what is not provable here has not failed.

    Raises:
        HostError: another study holds the machine, or there is no probe.
    """
    from scalograph.errors import Exit

    proofs = _proofs()
    if json:
        emit_json(document(proofs))
    else:
        _print(proofs)
    return Exit.HOST if any(proof.status == "failed" for proof in proofs) else Exit.DONE


def _proofs() -> "list[Proof]":
    from scalograph.cli.pipeline import machine_lock
    from scalograph.machine.proofs.run_proofs import prove
    from scalograph.run.hosts.host_names import open_host

    with open_host() as host:
        if host.probe.warning:
            say(host.probe.warning, "yellow")
        with machine_lock():
            return prove(host)


def document(proofs: "Sequence[Proof]") -> dict[str, object]:
    """Return the JSON document of all proofs."""
    from dataclasses import asdict

    return {"proofs": [asdict(proof) for proof in proofs], "sentence": summary_sentence(proofs)}


def summary_sentence(proofs: "Sequence[Proof]") -> str:
    """Return one sentence about all proofs."""
    n = {status: sum(proof.status == status for proof in proofs) for status in _STYLES}
    counts = f"{n['proved']} of {len(proofs)} proved, {n['failed']} failed, {n['not provable']} not provable here"
    if n["failed"]:
        return f"{counts}: do not rely on what the failed ones are about until they are put right."
    if n["not provable"]:
        return f"{counts}: nothing was found wrong; what could not be proved is only assumed."
    return f"{counts}: on this machine a run is what its record says."


def _print(proofs: "Sequence[Proof]") -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for proof in proofs:
        style = _STYLES[proof.status]
        grid.add_row(Text(proof.name), Text(proof.status, style=style), Text(printable(sentence(proof))))
    out().print(grid)
    tell()
    tell(summary_sentence(proofs))


def sentence(proof: "Proof") -> str:
    """Return the outcome of a proof; for a failure also what was expected and the remedy."""
    if proof.status == "failed":
        return f"{proof.what}: not so. Found {proof.found}, expected {proof.expected or 'no refusal'}; {proof.fix}"
    return f"{proof.found}; what would help: {proof.fix}" if proof.fix else proof.found
