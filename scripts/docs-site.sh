#!/usr/bin/env bash
# Lays the pages of the project out as they lie in the repository, so that their links hold, adds the page of the Python
# interface (docs/api.md, from docstrings), and makes a site of them.
# Usage: scripts/docs-site.sh MKDOCS OUTDIR
set -eu
mkdocs=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")/.."
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT

git ls-files -z '*.md' 'docs/*.ipynb' LICENSE | grep -zv '^tests/' | xargs -0 cp --parents -t "$pages"
"$(dirname "$mkdocs")/python" scripts/api_page.py >"$pages/docs/api.md"
mv "$pages/README.md" "$pages/index.md"
# Elsewhere a link to the first page names its file.
find "$pages" -name '*.md' -exec sed -i -E 's#\(((\.\./)*)README\.md\)#(\1index.md)#g' {} +
# In a folder, README.md is that folder's first page: only the root's was renamed.
find "$pages" -mindepth 2 -name README.md -printf '%h\n' | while read -r folder; do
    find "$folder" -maxdepth 1 -name '*.md' -exec sed -i 's#(index\.md)#(README.md)#g' {} +
done

cat >"$pages.yml" <<CONFIG
site_name: Scalograph
site_description: A scalability laboratory for Linux
docs_dir: $pages
site_dir: $out
use_directory_urls: false
theme: {name: readthedocs, highlightjs: false}
validation: {links: {not_found: info, unrecognized_links: info, absolute_links: info, anchors: info}, nav: {omitted_files: info}}
CONFIG
trap 'rm -rf "$pages" "$pages.yml"' EXIT
"$mkdocs" build --quiet --clean --config-file "$pages.yml"
echo "documentation: $out/index.html"
