#!/usr/bin/env bash
# run.sh COMPILER FILE: FILE must be refused by the compiler, in the words that the file expects.
#
# Comment lines of FILE:
#   // expect: TEXT        must be in the output, as it is up to white space and kind of quotes
#   // max-lines: N        limit of the whole output, 20 unless said
#   // max-bytes: N        limit of the whole output, 3072 unless said
# Each with -g++ or -clang after the word (expect-clang, max-lines-g++) for one compiler only. The
# user's own line ends in `// here`; the output must name it as file:line. A file named ok_*.cpp must
# compile, and print nothing.
set -euo pipefail
# A UTF-8 locale, or g++ escapes the × of a message.
export LC_ALL=C.UTF-8

compiler=$1
file=$(realpath "$2")
# Paths in the output count: keep them the same wherever the checkout lies.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
file=$(realpath --relative-to=. "$file")
name=$(basename "$file")
case $(basename "$compiler") in
  clang*) family=clang ;;
  *) family=g++ ;;
esac

# directive WORD: the texts of `// WORD: TEXT`, the compiler's own ones last.
directive() {
  sed -nE "s|^[[:space:]]*// $1: *(.*[^[:space:]])[[:space:]]*$|\1|p" "$file"
  sed -nE "s|^[[:space:]]*// $1-${family//+/[+]}: *(.*[^[:space:]])[[:space:]]*$|\1|p" "$file"
}
normalise() { tr -s '[:space:]' ' ' | sed "s/[‘’]/'/g"; }

status=0
output=$("$compiler" -std=c++20 -fsyntax-only -I include "$file" 2>&1) || status=$?
faults=()

if [[ $name == ok_* ]]; then
  if [[ $status -ne 0 ]]; then faults+=("does not compile"); fi
  if [[ -n $output ]]; then faults+=("prints something"); fi
else
  lines=$(wc -l <<<"$output")
  bytes=$(wc -c <<<"$output")
  max_lines=$(directive max-lines | tail -n 1)
  max_bytes=$(directive max-bytes | tail -n 1)
  text=$(normalise <<<"$output")
  mapfile -t expected < <(directive expect)
  mapfile -t here < <(grep -nE '// here *$' "$file" | cut -d: -f1)
  if [[ $status -eq 0 ]]; then faults+=("compiles, but must not"); fi
  if [[ ${#expected[@]} -eq 0 ]]; then faults+=("has no line '// expect: TEXT'"); fi
  for want in "${expected[@]}"; do
    want=$(printf '%s' "$want" | normalise)
    if [[ $text != *"$want"* ]]; then faults+=("expected in the output: $want"); fi
  done
  if [[ ${#here[@]} -eq 0 ]]; then faults+=("has no line that ends in '// here'"); fi
  for line in "${here[@]}"; do
    if [[ $output != *"$name:$line:"* ]]; then faults+=("output does not name $name:$line"); fi
  done
  if [[ $lines -gt ${max_lines:-20} ]]; then
    faults+=("$lines lines of output, at most ${max_lines:-20} allowed")
  fi
  if [[ $bytes -gt ${max_bytes:-3072} ]]; then
    faults+=("$bytes bytes of output, at most ${max_bytes:-3072} allowed")
  fi
  echo "$name, $family: $lines lines, $bytes bytes"
fi

if [[ ${#faults[@]} -gt 0 ]]; then
  printf '%s: %s\n' "$name" "${faults[@]}"
  printf -- '---- output of %s\n%s\n' "$compiler" "$output"
  exit 1
fi
