#!/usr/bin/env bash
# What only the tests need. As root on Debian it is installed; elsewhere it is named, and its tests skip saying so. In CI
# none may be missing.
set -eu

has() { command -v "$1" >/dev/null; }
has_server() { PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin has "$1"; }

look() { # sets `wanted`
    wanted=()
    has chromium || wanted+=(chromium)
    has shellcheck || wanted+=(shellcheck)
    has tsc || wanted+=(node-typescript)
    has setpriv || wanted+=(util-linux)
    has make || wanted+=(make)
    has perf || wanted+=(linux-perf)
    # The servers of studies, and what fetches others.
    has pgbench || wanted+=(postgresql)
    has_server haproxy || wanted+=(haproxy)
    has_server nginx || wanted+=(nginx)
    has mvn || wanted+=(maven)
    # Another machine, and harnesses that are no Python packages.
    has_server sshd || wanted+=(openssh-server)
    has_server ip || wanted+=(iproute2)
    has hyperfine || wanted+=(hyperfine)
    [ -e /usr/share/java/junit-jupiter-api.jar ] || wanted+=(junit5)
    # A cluster, and programs that run over its nodes.
    has_server slurmd || wanted+=(slurm-wlm)
    has_server munged || wanted+=(munge)
    has mpirun || wanted+=(openmpi-bin)
    has mpicc || wanted+=(libopenmpi-dev)
    # Guests.
    has qemu-system-x86_64 || wanted+=(qemu-system-x86)
    has busybox || wanted+=(busybox-static)
}

look
[ "${#wanted[@]}" -gt 0 ] || exit 0
"${0%/*}/apt-install.sh" "${wanted[@]}" && exit 0
look
[ "${#wanted[@]}" -gt 0 ] || exit 0
echo "missing for some tests: ${wanted[*]}; install with: apt-get install ${wanted[*]}" >&2
[ "${CI:-}" != true ]
