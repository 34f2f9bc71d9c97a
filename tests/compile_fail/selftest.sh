#!/usr/bin/env bash
# selftest.sh COMPILER: run.sh accepts what it must, and refuses each kind of fault.
set -euo pipefail

compiler=$1
run=$(dirname "${BASH_SOURCE[0]}")/run.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bad=0

# verdict WANT NAME WORDS: run.sh on the source from stdin ends in WANT, and says WORDS.
verdict() {
  local got=accepts said
  cat >"$folder/$2.cpp"
  said=$("$run" "$compiler" "$folder/$2.cpp" 2>&1) || got=refuses
  if [[ $got != "$1" || $said != *"$3"* ]]; then
    printf '%s: wanted "%s" saying "%s", got "%s":\n%s\n' "$2" "$1" "$3" "$got" "$said"
    bad=1
  fi
}

verdict accepts missing_member "missing_member" <<'EOC'
// expect: no   member named 'weight'
// expect-g++: struct box
// expect-clang: 1 error generated
struct box { int width; };
int f(box b) { return b.weight; }  // here
EOC
verdict refuses it_compiles "compiles, but must not" <<'EOC'
// expect: no member named 'width'
struct box { int width; };
int f(box b) { return b.width; }  // here
EOC
verdict refuses other_words "expected in the output: no member named 'height'" <<'EOC'
// expect: no member named 'weight'
// expect: no member named 'height'
struct box { int width; };
int f(box b) { return b.weight; }  // here
EOC
verdict refuses other_line "does not name other_line.cpp:3" <<'EOC'
// expect: no member named 'weight'
struct box { int width; };
int g(box b);  // here
int f(box b) { return b.weight; }
EOC
verdict refuses no_line "no line that ends in '// here'" <<'EOC'
// expect: no member named 'weight'
struct box { int width; };
int f(box b) { return b.weight; }
EOC
verdict refuses no_words "has no line '// expect: TEXT'" <<'EOC'
struct box { int width; };
int f(box b) { return b.weight; }  // here
EOC
verdict refuses too_many_lines "lines of output, at most 2 allowed" <<'EOC'
// expect: no member named 'weight'
// max-lines: 2
struct box { int width; };
int f(box b) { return b.weight; }  // here
EOC
verdict refuses too_many_bytes "bytes of output, at most 100 allowed" <<'EOC'
// expect: no member named 'weight'
// max-bytes: 3000
// max-bytes-g++: 100
// max-bytes-clang: 100
struct box { int width; };
int f(box b) { return b.weight; }  // here
EOC
verdict accepts ok_quiet "" <<'EOC'
struct box { int width; };
EOC
verdict refuses ok_but_not "does not compile" <<'EOC'
struct box { int width; };
int f(box b) { return b.weight; }
EOC
verdict refuses ok_but_talks "prints something" <<'EOC'
#warning "talks"
EOC
exit $bad
