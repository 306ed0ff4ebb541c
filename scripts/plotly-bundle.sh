#!/usr/bin/env bash
# Build the drawing library of the page from plotly's sources: only what a figure of ours has. Usage: scripts/plotly-bundle.sh
set -eu
version=4.1.1
vendor=$(cd "$(dirname "$0")/../src/scalograph/report/vendor" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --ignore-scripts "plotly.js@$version" esbuild@0.28.2
python3 -m venv zopfli && zopfli/bin/pip install --quiet zopfli

core=node_modules/plotly.js/src/core
grep -vE "components/(annotations3d|updatemenus|sliders|rangeselector|rangeslider|images|grid)'" $core.js >$core-small.js
cat >entry.js <<'EOF'
const Plotly = require("plotly.js/src/core-small");
Plotly.register([require("plotly.js/lib/bar"), require("plotly.js/lib/heatmap"), require("plotly.js/lib/contour")]);
module.exports = Plotly;
EOF
npx esbuild entry.js --bundle --minify --target=es2020 --format=iife --global-name=Plotly --legal-comments=inline \
    --define:global=window --define:define.amd=false --outfile=bundle.js
{ printf '/*! plotly.js %s (scatter, bar, heatmap, contour), Copyright Plotly, Inc., MIT license */\n' "$version"; cat bundle.js; } >plotly-small.min.js
zopfli/bin/python -c 'import sys, zopfli.gzip; sys.stdout.buffer.write(zopfli.gzip.compress(sys.stdin.buffer.read(), numiterations=5))' \
    <plotly-small.min.js >"$vendor/plotly-small.min.js.gz"
cp node_modules/plotly.js/LICENSE "$vendor/LICENSE.plotly"
sha256sum plotly-small.min.js
