#!/usr/bin/env bash
# Are faults known of what we depend on? Crates by cargo deny (deny.toml: also licenses, sources, doubles), Python packages by
# pip-audit, by the hashes of requirements/. Both ask their databases over the network.
# Exit 1: something was found, or a database could not be asked; 3: a tool is missing, which is named.
set -u
cd "$(dirname "$0")/.." || exit 3
found=0
missing=0

need() { # program, command that installs it
    command -v "$1" >/dev/null && return
    echo "missing: $1" >&2
    echo "  install it with: $2" >&2
    missing=1
    return 1
}

if need cargo-deny "cargo install --locked cargo-deny"; then
    for lock in probe/Cargo.lock workloads/*/Cargo.lock; do
        echo "== ${lock%/Cargo.lock}"
        cargo deny --manifest-path "${lock%.lock}.toml" --locked check --config "$PWD/deny.toml" || found=1
    done
fi

if need pip-audit "pipx install pip-audit"; then
    for lock in requirements/*.lock; do
        echo "== $lock"
        # --strict: what the database does not know is not passed over.
        pip-audit --strict --require-hashes --disable-pip --progress-spinner off --requirement "$lock" || found=1
    done
fi

[ "$found" -eq 0 ] || exit 1
[ "$missing" -eq 0 ] || exit 3
