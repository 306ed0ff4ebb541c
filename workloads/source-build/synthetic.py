"""Makes a source tree of its own: an image, and modules in directories that are made one after another.

Every byte follows from the numbers below, so that two machines compile the same text. Functions are straight arithmetic
that an optimizer has to work on; nothing of them is ever run. A unit is a C file.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

# As many units that a handful of jobs do not come to the end of them at once.
N_IMAGE_UNITS, IMAGE_FUNCTIONS = 60, 3
# Units of each directory. Two jobs share at most two units, and one alone has a directory of one: over a third of them.
DIRECTORY_UNITS = (1, 2, 1, 3, 1, 2, 1, 1, 2, 1) * 2
MODULE_FUNCTIONS = 18
N_STATEMENTS = 8
_STATEMENTS = (
    "s += a * {k}u ^ b;",
    "s = (s << {n}) | (s >> (32 - {n}));",
    "if (s & {k}u) b += s >> {n};",
    "a ^= s * {k}u + b;",
    "switch (s % 5u) {{ case 0: s += {k}u; break; case 1: b ^= {k}u; break; default: s ^= a; }}",
)
_FLAGS = "CC = gcc\nCFLAGS = -O1\n\n"
_TOP = """\
# Made by synthetic.py: an image of {n} units, and modules below modules/.
{flags}UNITS = {units}

image.elf: $(UNITS)
\t$(CC) -nostdlib -r -o image.elf $(UNITS)
"""
_MODULE = """\
{flags}UNITS = {units}

module.ko: $(UNITS)
\t$(CC) -nostdlib -r -o module.ko $(UNITS)
"""


class _Draw:
    """Whole numbers from 0 on that follow from a seed: D. E. Knuth and H. W. Lewis's generator of 32 bits."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        self.state = (self.state * 1664525 + 1013904223) % (1 << 32)
        return (self.state >> 16) % limit


def directories() -> list[str]:
    """Folders of modules, in the order in which they are made."""
    return [f"modules/{index:02}" for index in range(len(DIRECTORY_UNITS))]


def unit(seed: int, n_functions: int) -> str:
    """The text of a C file."""
    draw, names, parts = _Draw(seed), [], []
    for index in range(n_functions):
        names.append(f"part_{seed}_{index}")
        body = "".join(
            f"\t\t{_STATEMENTS[draw.below(len(_STATEMENTS))].format(k=draw.below(9999) + 1, n=draw.below(28) + 2)}\n"
            for _ in range(N_STATEMENTS)
        )
        head = f"static unsigned {names[-1]}(unsigned a, unsigned b)\n{{\n\tunsigned s = {draw.below(999)}u;\n"
        loop = f"\tfor (unsigned i = 0; i < a % {draw.below(60) + 4}u; i++) {{\n{body}\t}}\n"
        parts.append(f"{head}{loop}\treturn s + a + b;\n}}\n\n")
    calls = "".join(f"\ts += {name}(a + s, b ^ s);\n" for name in names)
    whole = f"unsigned unit_{seed}(unsigned a, unsigned b)\n{{\n\tunsigned s = 0;\n{calls}\treturn s;\n}}\n"
    return "".join([*parts, whole])


def files() -> Iterator[tuple[str, str]]:
    """Every file of the tree: its path and its text."""
    image = [f"image/unit{index:02}" for index in range(N_IMAGE_UNITS)]
    yield "Makefile", _TOP.format(n=N_IMAGE_UNITS, flags=_FLAGS, units=" ".join(f"{name}.o" for name in image))
    yield from ((f"{name}.c", unit(seed, IMAGE_FUNCTIONS)) for seed, name in enumerate(image))
    seed = 1000
    for folder, n_units in zip(directories(), DIRECTORY_UNITS, strict=True):
        names = [f"unit{index}" for index in range(n_units)]
        yield f"{folder}/Makefile", _MODULE.format(flags=_FLAGS, units=" ".join(f"{name}.o" for name in names))
        for name in names:
            yield f"{folder}/{name}.c", unit(seed, MODULE_FUNCTIONS)
            seed += 1


def generate(into: Path) -> dict[str, object]:
    """Write the tree to INTO/tree; says what it is."""
    digest = hashlib.sha256()
    for path, text in files():
        file = into / "tree" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="ascii")
        digest.update(f"{path}\n{text}".encode("ascii"))
    n_units = N_IMAGE_UNITS + sum(DIRECTORY_UNITS)
    return {
        "package": "synthetic tree",
        "version": f"{n_units} units",
        "file": "made by synthetic.py",
        "sha256": digest.hexdigest(),
    }
