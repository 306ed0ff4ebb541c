#!/usr/bin/env bash
# Make a page of each kept journal, studies/*/example: FOLDER/STUDY.html. Usage: scripts/kept-reports.sh FOLDER [STUDY ...]
set -eu
[ "$#" -gt 0 ] || { echo "usage: scripts/kept-reports.sh FOLDER [STUDY ...]" >&2; exit 2; }
mkdir -p "$1"
pages=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."

[ "$#" -gt 0 ] || set -- studies/*/example
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for example in "$@"; do
    [ -d "$example" ] || example=studies/$example/example
    study=$(basename "$(dirname "$example")")
    cp -r "$example" "$folder/$study"
    scalograph report "$folder/$study" >/dev/null
    cp "$folder/$study/report.html" "$pages/$study.html"
done
