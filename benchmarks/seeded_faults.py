"""How many of 300 seeded faults in src do the tests find? The same faults are found again after names and files change.

    seeded_faults.py choose                                     draw the faults of this tree, by a seed
    seeded_faults.py find --renames RENAMES.tsv --replace       look them up in a changed tree
    nice -n 19 seeded_faults.py run --at COMMIT --work FOLDER   measure; continues where it ended
    seeded_faults.py table --work FOLDER                        print the result so far

A fault is one changed expression or statement of a function. Only tests that execute this function run, in a copy of
the tree, in a PID namespace of their own, where only FOLDER is writable: a fault may kill and delete anything. A test
that fails must fail twice. RENAMES.tsv holds one pair of identifiers a line: old, tab, new.
"""

import argparse
import difflib
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from seeded_faults_places import Fault, Site, compiles, sites_of
from seeded_faults_run import contained, prepare, run, table

HERE = Path(__file__).resolve().parent
FAULTS = HERE / "seeded_faults.jsonl"
SEED, N = 33, 300
IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*")


def draw(sites: Sequence[Site], n: int, tree: Path, seed: int) -> list[Fault]:
    """Draw faults: of each room in proportion to its places, of each kind alike, one of a function."""
    dice, rooms = random.Random(seed), defaultdict[str, list[Site]](list)
    for site in sites:
        rooms[site.fault.room].append(site)
    shares = {room: n * len(those) / len(sites) for room, those in rooms.items()}
    counts = {room: int(share) for room, share in shares.items()}
    for room in sorted(shares, key=lambda room: counts[room] - shares[room])[: n - sum(counts.values())]:
        counts[room] += 1
    return [fault for room in sorted(rooms) for fault in _drawn(rooms[room], counts[room], tree, dice, set())]


def _drawn(
    sites: Sequence[Site], n: int, tree: Path, dice: random.Random, taken: set[tuple[str, str]]
) -> Iterator[Fault]:
    kinds = defaultdict[str, list[Site]](list)
    for site in sites:
        kinds[site.fault.kind].append(site)
    while n and kinds:
        kind = dice.choice(sorted(kinds))
        site = kinds[kind].pop(dice.randrange(len(kinds[kind])))
        if not kinds[kind]:
            del kinds[kind]
        at = site.fault.file, site.fault.function
        if at not in taken and compiles(site, tree):
            taken.add(at)
            n -= 1
            yield site.fault


def renamed(fault: Fault, names: Mapping[str, str]) -> Fault:
    """Return a fault by the new names of what is in it."""
    texts = {field: getattr(fault, field) for field in ("function", "statement", "old", "new")}
    return replace(fault, **{f: IDENTIFIER.sub(lambda m: names.get(m[0], m[0]), text) for f, text in texts.items()})


def look_up(fault: Fault, sites: Sequence[Site]) -> tuple[Site | None, str]:
    """Return the place of a fault in a changed tree, and how it was recognized."""
    last = fault.function.rpartition(".")[2]
    change = [s for s in sites if (s.fault.kind, s.fault.old, s.fault.new) == (fault.kind, fault.old, fault.new)]
    same = [s for s in change if s.fault.statement == fault.statement]
    by_name = [s for s in same if s.fault.function.rpartition(".")[2] == last and s.fault.ordinal == fault.ordinal]
    in_file = [s for s in by_name if s.fault.file == fault.file and s.fault.function == fault.function]
    if in_file or len(by_name) == 1:
        return (in_file or by_name)[0], "function and statement"
    if by_name:
        stem = Path(fault.file).parts
        return max(by_name, key=lambda s: len(set(stem) & set(Path(s.fault.file).parts))), "function, nearest file"
    if len(same) == 1:
        return same[0], "statement"
    alike = [s for s in sites if s.fault.kind == fault.kind and s.fault.function.rpartition(".")[2] == last]
    alike += [s for s in change if s.fault.room == fault.room]
    scores = sorted(((_likeness(fault, s.fault), i) for i, s in enumerate(alike)), reverse=True)
    return (alike[scores[0][1]], f"likeness {scores[0][0]:.2f}") if scores and scores[0][0] >= 0.8 else (None, "")


def _likeness(a: Fault, b: Fault) -> float:
    texts = [f"{f.function.rpartition('.')[2]}\n{f.statement}\n{f.old}\n{f.new}" for f in (a, b)]
    # Of changes that read the same, the one at the same turn.
    return difflib.SequenceMatcher(None, *texts, autojunk=False).ratio() - 0.001 * (a.ordinal != b.ordinal)


def find(faults: Sequence[Fault], tree: Path, names: Mapping[str, str], seed: int | None) -> list[Fault]:
    """Look all faults up in a tree; draw others of the same kind and room for what is lost, if a seed is given."""
    sites, there, lost, how = sites_of(tree), list[Fault](), list[Fault](), Counter[str]()
    for fault in faults:
        site, by = look_up(renamed(fault, names), sites)
        if site is not None and replace(site.fault, room=fault.room) in there:  # two became one
            site, by = None, ""
        how[by.partition(" 0.")[0] or "lost"] += 1
        if site is None:
            lost.append(fault)
            print("lost:", json.dumps(asdict(fault)))
            continue
        if by.startswith("likeness"):
            print(f"{by}: {fault.function}: {fault.statement!r} -> {site.fault.function}: {site.fault.statement!r}")
        there.append(replace(site.fault, room=fault.room))
    taken = {(fault.file, fault.function) for fault in there}
    for i, fault in enumerate(lost if seed is not None else ()):
        dice = random.Random(f"{seed} {i}")
        kind = [s for s in sites if s.fault.kind == fault.kind]
        near = [s for s in kind if s.fault.room == fault.room] or kind
        there += [replace(drawn, room=fault.room) for drawn in _drawn(near, 1, tree, dice, taken)]
    print("recognized by:", dict(how))
    return there


def _read(file: Path) -> list[Fault]:
    return [Fault(**json.loads(line)) for line in file.read_text().splitlines()]


def _write(file: Path, faults: Sequence[Fault]) -> None:
    file.write_text("".join(json.dumps(asdict(fault)) + "\n" for fault in faults))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("choose", "find", "run", "table"))
    parser.add_argument("--tree", type=Path, default=HERE.parent)
    parser.add_argument("--faults", type=Path, default=FAULTS, help="file of faults")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--renames", type=Path, help="find: old and new identifiers")
    parser.add_argument("--replace", action="store_true", help="find: draw others for faults that are lost")
    parser.add_argument("--out", type=Path, help="find: write the faults by their new names")
    parser.add_argument("--at", default="HEAD", help="run: commit")
    parser.add_argument("--work", type=Path, help="run: folder of the copy and the results")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.action == "choose":
        _write(a.faults, draw(sites_of(a.tree), a.n, a.tree, a.seed))
    elif a.action == "find":
        lines = a.renames.read_text().splitlines() if a.renames else []
        names = dict(line.split("\t")[:2] for line in lines if "\t" in line)
        faults = find(_read(a.faults), a.tree, names, a.seed if a.replace else None)
        if a.out:
            _write(a.out, faults)
    elif a.action == "table":
        print(table(a.work), end="")
    elif a.inside:
        run(a.work, _read(a.faults))
    else:
        work = a.work.resolve()
        prepare(a.tree.resolve(), a.at, work)
        contained(work, ["run", "--work", str(work), "--faults", str(a.faults.resolve())])


if __name__ == "__main__":
    main()
