#!/usr/bin/env bash
# Runs an example program that learns a text: text_program.sh PROGRAM. Exit code 0: all as it should.
set -u
program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failures=0

fail() {
  echo "FAILED: $*"
  sed 's/^/    /' log | tail -8
  failures=$((failures + 1))
}
# run CODE ARGUMENT...: the program with a small batch; output in `out` and `log`.
threads=2 context=16 batch=2
run() {
  local want=$1 code=0
  shift
  "$program" --batch $batch --context $context --threads $threads --length 5 "$@" >out 2>log </dev/null || code=$?
  [[ $code -eq $want ]] || fail "exit code $code, not $want: $*"
}
# refused TEXT ARGUMENT...: exit code 2, TEXT on stderr, nothing on stdout, no file changed.
refused() {
  local text=$1 before
  shift
  before=$(sums)
  run 2 "$@"
  grep -qF -- "$text" log || fail "the message lacks \"$text\": $*"
  [[ ! -s out ]] || fail "output on stdout: $*"
  [[ $(sums) == "$before" ]] || fail "files changed: $*"
}
sums() { find . -type f ! -name out ! -name log -exec cksum {} + | sort; }
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }

for i in {1..60}; do echo "line $i: the quick brown fox jumps over the lazy dog"; done >text
final='^step [0-9]+ train_loss [0-9.]+ val_loss [0-9.]+ tokens_per_second [0-9]+$'

# A run, the same in two parts and on one thread, one that is complete already, and writing on.
run 0 --text text --out whole --steps 6 --eval-every 3 --sample-every 2
tail -n 1 out | grep -qE "$final" || fail "the last line is $(tail -n 1 out)"
[[ $(grep -c '^--- sample' out) -eq 3 ]] || fail "there are not 3 samples: $(cat out)"
for file in checkpoint.safetensors log.csv loss.svg; do
  [[ -s whole/$file ]] || fail "no $file"
done
threads=1
run 0 --text text --out again --steps 6 --eval-every 3 --sample-every 0
threads=2
same whole/checkpoint.safetensors again/checkpoint.safetensors
run 0 --text text --out whole --steps 6 --samples 0
same whole/checkpoint.safetensors again/checkpoint.safetensors
tail -n 1 out | grep -qE "$final" || fail "the last line is $(tail -n 1 out)"
run 0 --text text --out whole --steps 8
grep -qF 'going on from step 6' log || fail "it does not go on"
run 0 --out whole --generate-only 'the quick' --temperature 0
[[ $(head -c 9 out) == 'the quick' ]] || fail "it does not write on: $(cat out)"

# Writing on takes the window from the checkpoint, and refuses what contradicts it.
"$program" --out whole --length 5 --temperature 0 --generate-only 'the quick' >without 2>log ||
  fail "it wants the window named"
same without out
context=8
refused 'window = 16' --out whole --generate-only the
context=16 batch=4
refused 'batch = 2' --out whole --generate-only the
batch=2
printf 'another text' >short
refused 'text = ' --out whole --text short --generate-only the
refused '--steps' --out whole --steps 9 --generate-only the
refused '--fresh' --out whole --fresh --generate-only the
run 0 --out whole --generate-only the --profile --check
grep -qF 'program generate' log || fail "no profile of the writing"

# Output that goes nowhere: the training ends in order, and says so at the end.
"$program" --batch 2 --context 16 --threads 2 --text text --out piped --steps 4 --sample-every 1 \
  2>log </dev/null | true
[[ -s piped/checkpoint.safetensors ]] || fail "a closed pipe stopped the training"
if [[ -c /dev/full ]]; then
  code=0
  "$program" --out whole --generate-only the >/dev/full 2>log || code=$?
  [[ $code -eq 2 ]] || fail "exit code $code, not 2, where the output cannot be written"
  grep -qF 'standard output' log || fail "it does not say that the output cannot be written"
fi

# A disk without room for a checkpoint: an error with its name, and the old files stay.
cp -r whole limited
before=$(cksum <limited/checkpoint.safetensors)
code=0
(ulimit -f 64 && exec "$program" --batch 2 --context 16 --threads 2 --text text --out limited \
  --steps 10 >out 2>log </dev/null) || code=$?
[[ $code -eq 2 ]] || fail "exit code $code, not 2, without room for a checkpoint"
grep -qF '[limited/checkpoint.safetensors] writing failed' log || fail "it does not say what failed"
[[ $(cksum <limited/checkpoint.safetensors) == "$before" ]] || fail "the old checkpoint is gone"

# Files of others.
mkdir foreign blocked
printf 'day,rain\n1,2\n' >foreign/log.csv
refused 'foreign/log.csv' --text text --out foreign --steps 1
refused 'foreign/log.csv' --text text --out foreign --steps 1 --fresh
mkdir blocked/loss.svg
refused 'blocked/loss.svg' --text text --out blocked --steps 1

# Ctrl-C, and a second run at the same time.
"$program" --batch 2 --context 16 --threads 2 --text text --out stopped --steps 1000000 \
  >out 2>log </dev/null &
child=$!
for i in {1..600}; do
  [[ -e stopped/log.csv && $(wc -l <stopped/log.csv) -gt 3 ]] && break
  sleep 0.1
done
code=0
"$program" --batch 2 --context 16 --text text --out stopped --steps 9 >out 2>second </dev/null ||
  code=$?
[[ $code -eq 2 ]] || fail "exit code $code, not 2, of a second run in the folder"
grep -qF '[stopped] another run' second || fail "it does not say that another run is at work"
kill -INT $child
code=0
wait $child || code=$?
[[ $code -eq 130 ]] || fail "exit code $code, not 130, after SIGINT"
grep -qF 'the same command goes on' log || fail "it does not say how to go on"
[[ -s stopped/checkpoint.safetensors ]] || fail "no checkpoint after SIGINT"
refused 'is beyond the 1 steps' --text text --out stopped --steps 1

# Texts.
: >empty
printf 'a few\nwords' >short
printf 'good \xff bad' >broken
refused 'empty' --text empty --out new
refused 'short' --text short --out new
refused 'window' --text short --out new
refused 'broken' --text broken --out new
refused 'missing' --text missing --out new
refused 'regular file' --text . --out new
cp text other
echo 'one line more' >>other
refused 'text = ' --text other --out whole --steps 9

# Checkpoints that are not whole, or of another run.
refused 'seed = 1' --text text --out whole --steps 9 --seed 7
context=8
refused 'window = 16' --text text --out whole --steps 9
context=16
cp -r whole cut
head -c 5000 whole/checkpoint.safetensors >cut/checkpoint.safetensors
refused 'cut/checkpoint.safetensors' --text text --out cut --steps 9
head -c -1 whole/checkpoint.safetensors >cut/checkpoint.safetensors
refused 'data_offsets' --text text --out cut --steps 9
refused 'data_offsets' --out cut --generate-only the
printf '\377\377\377\377\377\377\377\177' >cut/checkpoint.safetensors
tail -c +9 whole/checkpoint.safetensors >>cut/checkpoint.safetensors
refused 'header length = 9223372036854775807' --text text --out cut --steps 9
for edit in 's/"head.weight"/"head.wEight"/' 's/"F64"/"F32"/' 's/"shape":\[\]/"shape":[1]/' \
    's/ropewalk checkpoint 1/ropewalk checkpoint 9/' 's/"seed":"1"/"seed":"x"/'; do
  LC_ALL=C sed "1$edit" whole/checkpoint.safetensors >cut/checkpoint.safetensors
  cmp -s whole/checkpoint.safetensors cut/checkpoint.safetensors && fail "no edit: $edit"
  refused 'cut/checkpoint.safetensors] ' --text text --out cut --steps 9
done
refused 'no/checkpoint.safetensors' --out no --generate-only the
refused 'U+2620' --out whole --generate-only $'\u2620'
refused 'prompt' --out whole --generate-only ''

# The command line.
refused '--steps' --text text --out new --steps 0
refused '--steps' --text text --out new --steps many
for seed in -1 9223372036854775808 99999999999999999999 1e3; do
  refused '--seed' --text text --out new --steps 1 --seed $seed
done
run 0 --text text --out last --steps 1 --seed 9223372036854775807
refused '--steps' --text text --out new --steps 99999999999999999999
refused '--lr' --text text --out new --steps 1 --lr nan
batch=0
refused '--batch' --text text --out new
batch=1000000000
refused 'B = 1000000000, T = 16' --text text --out new
batch=2
refused '--text' --out new
refused '--out' --text text
refused '--colour' --text text --out new --colour red
refused '--device' --text text --out new --device abacus
refused 'temperature' --text text --out new --steps 1 --temperature -1
run 0 --help
exit $((failures > 0))
