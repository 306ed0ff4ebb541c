#!/usr/bin/env bash
# Looks for each prerequisite of `make demo`. As root on Debian, what apt-get can install is installed; the rest is named
# with the command that installs it; exit 3 if one is missing.
set -u
python=${1:-python3}

need() { # what, command that installs it, packages that we may install
    missing+=("missing: $1" "  install it with: $2")
    packages+=("${@:3}")
}

jdk_release() { # launcher; its feature release: 17 of "17.0.15", 8 of "1.8.0_402", nothing where it does not say
    "$1" -version 2>&1 | sed -nE 's/^(javac|[a-z]+ version) "?(1\.)?([0-9]+).*/\3/p' | head -n 1
}

look() { # sets `missing` and `packages`
    missing=() packages=()
    hash -r
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        need "Python 3.11 or later ($python)" "apt-get install python3 python3-venv"
    elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        need "the venv module of $python" "apt-get install python3-venv" python3-venv
    fi

    if ! command -v cargo >/dev/null; then
        need "Rust 1.85 or later (cargo)" "apt-get install rustup && rustup default stable (before Debian 13: https://rustup.rs)"
    else
        release=$(cargo --version | cut -d' ' -f2)
        if [ "$(printf '%s\n1.85.0\n' "$release" | sort -V | head -n 1)" != 1.85.0 ]; then
            need "Rust 1.85 or later (found $release)" "rustup update stable"
        fi
    fi

    command -v cc >/dev/null || need "a C compiler (cc)" "apt-get install gcc libc6-dev" gcc libc6-dev

    # Both come from JAVA_HOME where it is set, as they do for a study; a runtime alone has no javac. Another JDK than
    # the one that somebody chose is not installed.
    jdk=(default-jdk-headless)
    [ -z "${JAVA_HOME:-}" ] || jdk=()
    for program in java javac; do
        launcher=$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}$program" || command -v "$program" || true)
        release=$([ -z "$launcher" ] || jdk_release "$launcher")
        if [ "${release:-0}" -lt 11 ]; then
            need "a JDK 11 or later ($program: found ${launcher:+$launcher, release }${release:-none})" \
                "apt-get install default-jdk-headless${JAVA_HOME:+, and unset JAVA_HOME or set it to that JDK}" \
                "${jdk[@]}"
            jdk=()
        fi
    done
}

look
if [ "${#packages[@]}" -gt 0 ]; then
    "${0%/*}/apt-install.sh" "${packages[@]}"
    look
fi
[ "${#missing[@]}" -gt 0 ] || exit 0
printf '%s\n' "${missing[@]}" >&2
exit 3
