#!/usr/bin/env bash
# Prints what CHANGELOG.md, or the file in CHANGELOG, says about a version, for the notes of its release, and fails where
# it says nothing. A pre-release, such as 1.2.3-rc.1, has what is unreleased.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (( $# != 1 )); then
  echo "Usage: hack/release-notes.sh VERSION" >&2
  exit 2
fi
heading="$1" changelog="${CHANGELOG:-CHANGELOG.md}"
if [[ "${heading}" == *-* ]]; then
  heading=Unreleased
fi

# A section reaches to the next heading of its level, or to the definitions of links at the end.
notes="$(awk -v heading="## [${heading}]" '
  /^## / || /^\[[^]]*\]: / { inside = 0 }
  inside { print }
  index($0, heading) == 1 { inside = 1 }
' "${changelog}")"
if [[ -z "${notes//[[:space:]]/}" ]]; then
  echo "${changelog} has no section \"## [${heading}]\", or it is empty." >&2
  exit 1
fi
echo "${notes}"
