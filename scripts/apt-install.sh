#!/usr/bin/env bash
# Installs packages with apt-get, and shows what it does. Exit 1 where we are not root, there is no apt-get, or it refuses
# a package: the others are installed all the same. Names nothing: the caller knows what a package is for.
set -u
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin # where dpkg wants its programs
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then exit 1; fi
export DEBIAN_FRONTEND=noninteractive
refused=0

update() { # once: a fresh machine has no lists, an old one lists of packages that are gone
    if [ -n "${updated:-}" ]; then return 1; fi
    updated=1
    echo "setup: apt-get update" >&2
    apt-get update -q >&2
}

is_known() {
    [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n '/Candidate: (none)/d; /Candidate: /p')" ]
}

for package; do
    is_known "$package" || { update || true; break; }
done
wanted=()
for package; do
    if is_known "$package"; then wanted+=("$package"); else
        echo "apt-get knows no package $package" >&2
        refused=1
    fi
done
[ "${#wanted[@]}" -gt 0 ] || exit 1

install() {
    echo "setup: apt-get install ${wanted[*]}" >&2
    apt-get install -y -q -o DPkg::Lock::Timeout=300 "${wanted[@]}" >&2
}

install || { update && install; } || exit 1
exit "$refused"
