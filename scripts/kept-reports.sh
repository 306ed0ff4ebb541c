#!/usr/bin/env bash
# Make the kept reports of studies anew from the journals beside them. Usage: scripts/kept-reports.sh [STUDY ...]
set -eu
cd "$(dirname "$0")/.."

[ "$#" -gt 0 ] || set -- studies/*/example
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for example in "$@"; do
    [ -d "$example" ] || example=studies/$example/example
    made=$folder/$(basename "$(dirname "$example")")
    cp -r "$example" "$made"
    scalograph report "$made" >/dev/null
    cp "$made/report.html" "$example/report.html"
done
