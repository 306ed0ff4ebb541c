#!/bin/sh
# Builds the probe into OUTDIR (default: dist) and says which kind of binary it is.
# A static one runs on any Linux, in a guest without libraries too; so that is tried first.
set -eu

outdir=${1:-dist}
case $outdir in /*) ;; *) outdir=$PWD/$outdir ;; esac
cd "$(dirname "$0")"

machine=$(uname -m)
musl=$machine-unknown-linux-musl
libdir=$(rustc --print target-libdir --target "$musl" 2>/dev/null || true)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Whether this host can link a static program at all: glibc's static half is a package of its own.
links_static() {
    printf 'fn main() {}\n' >"$scratch/try.rs"
    rustc -C target-feature=+crt-static -o "$scratch/try" "$scratch/try.rs" >/dev/null 2>&1
}

if [ -n "$libdir" ] && [ -d "$libdir" ]; then
    kind="static (musl)"
    target=$musl
elif links_static; then
    # It asks the CPU some forty questions at each start: dear in a virtual machine, where each is a trap.
    kind="static (glibc; it starts faster with musl: rustup target add $musl)"
    export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static"
    # With an explicit target the flags leave build scripts and macros alone.
    target=$machine-unknown-linux-gnu
else
    kind="dynamic (glibc)"
    target=
fi

cargo build --release --locked ${target:+--target "$target"} >"$scratch/log" 2>&1 || {
    cat "$scratch/log" >&2
    exit 1
}
mkdir -p "$outdir"
cp "${CARGO_TARGET_DIR:-target}/${target:+$target/}release/scalograph-probe" "$outdir/scalograph-probe"
echo "scalograph-probe: $kind in $outdir"
