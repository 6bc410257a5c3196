#!/usr/bin/env bash
# Builds the documentation site (site/) from docs/. Needs Node.js 20 or later and npm.
#
#   hack/site.sh build      this tree, into dist/site; dead links fail it
#   hack/site.sh serve      this tree, on http://localhost:5173, following edits
#   hack/site.sh versions   the published versions, into dist/pages: main as "next", and each release that has a site.
#                           SITE_URL names where: https://OWNER.github.io/REPOSITORY/
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

install() { npm --prefix "$1/site" ci --no-progress --loglevel=error; }

# Builds the version $1 from the tree in the folder $2.
version() {
  install "$2"
  SITE_VERSION="$1" SITE_OUT="${PWD}/dist/pages/$1" npm --prefix "$2/site" run build
}

# The releases that have a site, the latest first.
releases() {
  local tag
  for tag in $(git tag --list 'v*' --sort=-version:refname | grep -v -- '-' || true); do
    if git cat-file -e "${tag}:site/package.json" 2>/dev/null; then echo "${tag}"; fi
  done
}

versions() {
  : "${SITE_URL:?names where the versions are published, such as https://OWNER.github.io/REPOSITORY/}"
  local tags tag tree
  mapfile -t tags < <(releases)
  export SITE_URL SITE_VERSIONS="next${tags[*]:+ ${tags[*]}}"
  rm -rf dist/pages
  version next .
  for tag in ${tags[@]+"${tags[@]}"}; do
    tree="$(mktemp -d)"
    git worktree add --quiet --detach "${tree}" "${tag}"
    version "${tag}" "${tree}"
    git worktree remove --force "${tree}"
  done
  # The start page redirects to the latest release, or to next before the first release.
  printf '["%s"]\n' "${SITE_VERSIONS// /\",\"}" >dist/pages/versions.json
  printf '<!doctype html><meta http-equiv="refresh" content="0; url=%s/"><link rel="canonical" href="%s/">\n' \
    "${tags[0]:-next}" "${tags[0]:-next}" >dist/pages/index.html
  touch dist/pages/.nojekyll
}

case "${1:-}" in
  build) install . && npm --prefix site run build ;;
  serve) install . && npm --prefix site run dev ;;
  versions) versions ;;
  *) echo "usage: hack/site.sh build|serve|versions" >&2; exit 2 ;;
esac
