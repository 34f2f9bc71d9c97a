#!/usr/bin/env bash
# format.sh [--check]: all C++ sources in the style of .clang-format, or (--check) says which are not.
# Only clang-format 19 decides: other versions break lines elsewhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v clang-format-19 >/dev/null; then
  echo "format: needs clang-format-19 (apt-get install clang-format-19)" >&2
  exit 2
fi
mode=(-i)
case ${1-} in
  "") ;;
  --check) mode=(--dry-run --Werror) ;;
  *) echo "usage: cmake/format.sh [--check]" >&2; exit 2 ;;
esac
find include codegen tests bench examples \( -name '*.hpp' -o -name '*.cpp' \) -print0 |
  xargs -0 -r clang-format-19 "${mode[@]}"
