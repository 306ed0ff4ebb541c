"""Measure the prose of the pages: lines, words a sentence, share of long sentences, words that the style avoids.

python scripts/prose.py              every page for users, by kind
python scripts/prose.py FILE...      these pages, each sentence of more than 20 words below its page
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
KINDS = {
    "README": ("README.md",),
    "docs": ("docs/*.md", "docs/howto/*.md"),
    "studies": ("studies/*.md", "studies/*/README.md"),
    "workloads": ("workloads/*/README.md", "workloads/*/*/README.md"),
}
MOST_WORDS = 20
# What CONTRIBUTING.md's style has another word for.
AVOIDED = (
    r"neighbou?rs?", r"tells?", r"told", r"carr(?:y|ies|ied)", r"knobs?", r"figures?", r"kept", r"shipped|ships?",
    r"stops? [1-5]", r"five stops", r"gives? out", r"used up", r"what ends it", r"adds? nothing", r"left out",
    r"they count", r"not resolved", r"cannot be said", r"the same within", r"differences? (?:is|are) none",
    r"treatments?", r"contaminated", r"undecided", r"of our own", r"grants? and refuses?",
    r"so (?:many|often) (?:runs|of)",
    r"shall", r"doubts?", r"by whom", r"put right", r"\d %",
)  # fmt: skip
_AVOIDED = re.compile(rf"\b(?:{'|'.join(AVOIDED)})\b", re.IGNORECASE)
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_ENDS = re.compile(r"(?<=[.?!:;])[\"')*]*\s+(?=[\"'(*`\[]*[A-Z0-9`])")


class Prose(NamedTuple):
    """Counts of one page or several."""

    n_lines: int
    sentences: list[str]
    n_avoided: int


def plain(text: str) -> str:
    """Return the prose of a page: no code blocks, tables or headings; links and code as their words."""
    text = _FENCED.sub("\n\n", text)
    kept = [("" if line.startswith(("    ", "|", "#", "\t")) else line) for line in text.splitlines()]
    text = "\n".join(re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "\n\n", line) for line in kept)
    text = re.sub(r"`[^`]*`", "CODE", text)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def measure(page: Path) -> Prose:
    """Return the counts of one page; a colon or a semicolon before a capital ends a sentence."""
    text = page.read_text(encoding="utf-8")
    words = plain(text)
    parts = [" ".join(part.split()) for block in re.split(r"\n\s*\n", words) for part in _ENDS.split(block)]
    sentences = [part for part in parts if len(part.split()) > 2]
    # Not what a command prints, nor code.
    written = re.sub(r"^    .*$|`[^`]*`", "", _FENCED.sub("", text), flags=re.MULTILINE)
    return Prose(text.count("\n"), sentences, len(_AVOIDED.findall(written)))


def summary(name: str, pages: list[Prose]) -> str:
    """Return one line: pages, lines, sentences, words a sentence, share above the limit, avoided words."""
    lengths = [len(sentence.split()) for page in pages for sentence in page.sentences]
    share = sum(n > MOST_WORDS for n in lengths) / max(1, len(lengths))
    mean = sum(lengths) / max(1, len(lengths))
    n_lines, avoided = sum(page.n_lines for page in pages), sum(page.n_avoided for page in pages)
    return f"{name:<12}{len(pages):>6}{n_lines:>8}{len(lengths):>11}{mean:>10.1f}{100 * share:>8.0f}%{avoided:>9}"


def main(names: list[str]) -> None:
    """Print the table, or the long sentences of the pages named."""
    print(f"{'':<12}{'pages':>6}{'lines':>8}{'sentences':>11}{'words':>10}{'> 20':>9}{'avoided':>9}")
    if not names:
        for kind, patterns in KINDS.items():
            print(summary(kind, [measure(page) for pattern in patterns for page in sorted(ROOT.glob(pattern))]))
        return
    for name in names:
        page = measure(Path(name))
        print(summary(Path(name).stem[:11], [page]))
        for sentence in page.sentences:
            if len(sentence.split()) > MOST_WORDS:
                print(f"    {len(sentence.split())}: {sentence}")


if __name__ == "__main__":
    main(sys.argv[1:])
