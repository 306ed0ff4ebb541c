#!/usr/bin/env bash
# Renews requirements/*.lock from the ranges in pyproject.toml: hashes, no index addresses.
set -eu
cd "$(dirname "$0")/.."
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools/venv"
"$tools/venv/bin/pip" install --quiet pip-tools

"$tools/venv/bin/python" - "$tools" <<'PYTHON'
import sys, tomllib
from pathlib import Path
project = tomllib.loads(Path("pyproject.toml").read_text())
runtime = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["frames"]
groups = project["dependency-groups"]
wanted = {"runtime": runtime, "build": groups["build"], "dev": groups["test"] + groups["check"], "docs": groups["docs"]}
for name, lines in wanted.items():
    Path(sys.argv[1], f"{name}.in").write_text("\n".join(lines) + "\n")
PYTHON

for name in runtime build dev docs; do
    constraint=()
    [ "$name" = runtime ] || constraint=(--constraint requirements/runtime.lock)
    "$tools/venv/bin/pip-compile" --quiet --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links --no-emit-trusted-host "${constraint[@]}" \
        --output-file "requirements/$name.lock" "$tools/$name.in"
done
