#!/usr/bin/env bash
# Provides the stores that the tests of sources need: PostgreSQL, MariaDB, Redis, and dynalite (DynamoDB) and FerretDB
# (MongoDB), which are built into the user's cache folder once per version. Run as root on Debian or a derivative, it
# installs missing packages; otherwise it prints what to install. Prints the folder of the programs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

has() { PATH="${PATH}:/usr/sbin:$(echo /usr/lib/postgresql/*/bin | tr ' ' ':')" command -v "$1" >/dev/null; }

# Prints the packages that are missing.
missing() {
  has initdb && has postgres || echo postgresql
  has mariadbd && has mariadb-install-db && has my_print_defaults || echo mariadb-server-core mariadb-client-core
  has redis-server || echo redis-server
  has node || echo nodejs
  has npm || echo npm
}

# Fills a folder and renames it, so that it is complete or absent.
build() {
  local target="$1" temp
  temp="$(mktemp -d "${target}.XXXXXX")"
  # shellcheck disable=SC2064 # the path as it is now
  trap "rm -rf '${temp}'" EXIT
  echo "Building dynalite and FerretDB into ${target}; this takes about a minute and happens once per user." >&2
  mkdir "${temp}/dynalite"
  cp hack/dynalite/package.json hack/dynalite/package-lock.json "${temp}/dynalite"
  # It is plain JavaScript: nothing needs to be built, and no package script has to run.
  npm ci --prefix "${temp}/dynalite" --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  CGO_ENABLED=0 GOWORK=off go -C hack/ferretdb build -trimpath -buildvcs=false -o "${temp}/ferretdb" .
  chmod 755 "${temp}"
  [[ -d "${target}" ]] || mv "${temp}" "${target}" # another build may have been faster
}

# shellcheck disable=SC2207 # one word per package
packages=($(missing))
if ((${#packages[@]})); then
  hack/install-packages.sh "Tests of sources" "${packages[@]}"
fi

cache="${XDG_CACHE_HOME:-${HOME}/.cache}"
if [[ "$(uname)" == Darwin ]]; then
  cache="${HOME}/Library/Caches"
fi
root="${cache}/cloudfront-tenant-operator/databases"
version="$(cat hack/ferretdb/{main.go,go.mod,go.sum} hack/dynalite/*.json | cksum | cut -d ' ' -f 1)"
mkdir -p "${root}"
if [[ ! -d "${root}/${version}" ]]; then
  (build "${root}/${version}")
fi
# Without the environment variable, internal/testkit/database finds it by this link.
ln -sfn "${version}" "${root}/current"
echo "${root}/${version}"
