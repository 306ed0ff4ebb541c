#!/usr/bin/env bash
# Lays the pages of the project out as they lie in the repository, so that their links hold (README.md is the first page of
# its folder), adds the page of the Python interface (docs/api.md, from docstrings) and a report of each kept example, with
# their index, and makes a site of them. A link that leads nowhere ends it. PYTHON is as of kept-reports.sh.
# Usage: scripts/docs-site.sh MKDOCS OUTDIR
set -eu
mkdocs=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")/.."
pages=$(mktemp -d)
trap 'rm -rf "$pages" "$pages.yml"' EXIT

git ls-files -z '*.md' 'docs/*.ipynb' 'docs/*.yml' 'studies/reproduced/*.html' LICENSE | grep -zv '^tests/' | xargs -0 cp --parents -t "$pages"
"$(dirname "$mkdocs")/python" scripts/api_page.py >"$pages/docs/api.md"
# It is made here, so that no page of the repository can link to it.
# shellcheck disable=SC2016 # these are backquotes of Markdown
sed -i 's#`docs/api.html`#[Python interface](../api.md)#' "$pages/docs/howto/notebook.md"
scripts/kept-reports.sh "$pages/examples"
for report in "$pages"/examples/*/report.html; do
    study=$(basename "$(dirname "$report")")
    printf '\nSee the [report of the kept example](../../examples/%s/report.html).\n' "$study" >>"$pages/studies/$study/README.md"
done
printf '\nSee the [answers of all kept examples](../examples/index.html).\n' >>"$pages/studies/README.md"

cat >"$pages.yml" <<CONFIG
site_name: Scalograph
site_description: A scalability lab for Linux
docs_dir: $pages
site_dir: $out
use_directory_urls: false
strict: true
theme: {name: readthedocs, highlightjs: false}
validation: {links: {not_found: warn, unrecognized_links: warn, absolute_links: warn, anchors: warn}}
CONFIG
# Not --quiet: what it does not print, strict does not count.
"$mkdocs" build --clean --config-file "$pages.yml"
echo "documentation: $out/index.html"
