#!/usr/bin/env bash
# Prints the section of a version in CHANGELOG.md, or in the file that CHANGELOG names, for its release notes, and fails
# if there is none. A pre-release, such as 1.2.3-rc.1, gets the section of unreleased changes.
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

# A section ends at the next heading of its level, or at the link definitions at the end.
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
