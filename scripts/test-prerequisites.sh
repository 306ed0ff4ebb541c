#!/usr/bin/env bash
# What only the tests need. In CI it is installed; elsewhere it is named, and its tests skip saying so.
set -eu
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin # where servers are

wanted=()
has() { command -v "$1" >/dev/null; }
has chromium || wanted+=(chromium)
has shellcheck || wanted+=(shellcheck)
has tsc || wanted+=(node-typescript)
has setpriv || wanted+=(util-linux)
has make || wanted+=(make)
# The servers of studies, and what fetches others.
has pgbench || wanted+=(postgresql)
has haproxy || wanted+=(haproxy)
has nginx || wanted+=(nginx)
has mvn || wanted+=(maven)
# Another machine, and a harness that is no Python package.
has sshd || wanted+=(openssh-server)
has hyperfine || wanted+=(hyperfine)
# Guests.
has qemu-system-x86_64 || wanted+=(qemu-system-x86)
has busybox || wanted+=(busybox-static)
[ "${#wanted[@]}" -gt 0 ] || exit 0

if [ "${CI:-}" = true ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    apt-get update -q >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q "${wanted[@]}" >/dev/null
else
    echo "missing for some tests: ${wanted[*]}; install with: apt-get install ${wanted[*]}" >&2
fi
