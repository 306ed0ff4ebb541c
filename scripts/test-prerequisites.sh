#!/usr/bin/env bash
# What only the tests need. In CI it is installed; elsewhere it is named, and its tests skip saying so.
set -eu

wanted=()
command -v chromium >/dev/null || wanted+=(chromium)
command -v shellcheck >/dev/null || wanted+=(shellcheck)
command -v tsc >/dev/null || wanted+=(node-typescript)
command -v setpriv >/dev/null || wanted+=(util-linux)
command -v make >/dev/null || wanted+=(make)
[ "${#wanted[@]}" -gt 0 ] || exit 0

if [ "${CI:-}" = true ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    apt-get update -q >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q "${wanted[@]}" >/dev/null
else
    echo "missing for some tests: ${wanted[*]}; install with: apt-get install ${wanted[*]}" >&2
fi
