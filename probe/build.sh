#!/usr/bin/env bash
# Builds the probe's wheel into a folder: static musl where that target is installed, else static glibc, else dynamic.
set -eu
out=$(realpath -m "${1:-target/wheels}")
cd "$(dirname "$0")"

host=$(rustc -vV | sed -n 's/^host: //p')
machine=${host%%-*}
libraries=$(rustc --print sysroot)/lib/rustlib

build() { # what it is, arguments of maturin
    echo "scalograph-probe: $1"
    shift
    maturin build --quiet --release --locked --auditwheel skip --out "$out" "$@"
}

if [ -d "$libraries/$machine-unknown-linux-musl" ]; then
    build "static, musl" --target "$machine-unknown-linux-musl"
elif cc -print-file-name=libc.a | grep -q /; then
    # The target is named although it is the host: build-time macros must stay dynamic.
    RUSTFLAGS="-C target-feature=+crt-static" build "static, glibc (the musl target is not installed)" --target "$host"
else
    build "dynamic (no static C library found)"
fi
