# shellcheck shell=bash
# What .ci/run and .ci/full share; both source it. Every step is timed. A failed step is reported immediately, and the
# others still run. At the end `finish` prints a table of the steps and the number of test files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

logs=$(mktemp -d)
rows=()
failed=0

stop_databases() {
  # Also those of a run that ended before it used them.
  local pairs
  pairs=$(cat "$logs/postgres.uri" "$logs/pooler.uri" 2>/dev/null || true)
  # shellcheck disable=SC2086 # NAME=value pairs
  [ -z "$pairs" ] || declare -g $pairs
  [ -z "${POOLER_PIDFILE:-}" ] || kill "$(cat "$POOLER_PIDFILE")" 2>/dev/null || true
  [ -z "${PGDATA:-}" ] || kill -QUIT "$(head -1 "$PGDATA/postmaster.pid")" 2>/dev/null || true
  [ -z "${PGDATA:-}" ] || rm -rf "$(dirname "$PGDATA")"
}
trap 'stop_databases; rm -rf "$logs"' EXIT

report() { # NAME STATUS SECONDS
  rows+=("$(printf '%6s s  %-6s  %s' "$3" "$([ "$2" = 0 ] && echo ok || echo FAILED)" "$1")")
  printf '== %s: %s after %s s\n' "$1" "$([ "$2" = 0 ] && echo ok || echo FAILED)" "$3"
  [ "$2" = 0 ] || failed=1
}
# Runs a step in the foreground. A function of several commands must join them with &&, because bash ignores `set -e`
# where the exit status of a function is tested.
step() { # NAME COMMAND…
  local name=$1 started=$SECONDS status=0
  shift
  printf '\n== %s\n' "$name"
  ("$@") 2>&1 | tee -a "$logs/all" || status=1
  report "$name" "$status" $((SECONDS - started))
}
# Starts a step in the background. `finish_step` waits for it, and prints its output and its time.
start_step() { # NAME COMMAND…
  local name=$1 key=${1//[^A-Za-z0-9]/-}
  shift
  (
    status=0 started=$SECONDS
    ("$@") >"$logs/$key" 2>&1 || status=1
    echo "$status $((SECONDS - started))" >"$logs/$key.end"
  ) &
  echo $! >"$logs/$key.pid"
}
finish_step() { # NAME
  local key=${1//[^A-Za-z0-9]/-} status seconds
  wait "$(cat "$logs/$key.pid")" || true
  printf '\n== %s (at the same time as the step before)\n' "$1"
  tee -a "$logs/all" <"$logs/$key"
  read -r status seconds <"$logs/$key.end"
  report "$1" "$status" "$seconds"
}
# Ends the run after a failure that makes the following steps useless.
exit_if_failed() { [ "$failed" = 0 ] || finish; }
finish() {
  touch "$logs/all"
  # The logs are long, so the failed files and the diagnostics of each failure are repeated here.
  if [ "$failed" != 0 ]; then
    printf '\n%s\n' '== failures'
    grep -a '^# failed: ' "$logs/all" | sort -u | head -20 || true
    awk '/^ *not ok/ { shown = 16 } /^ *(ok|#)/ { shown = 0 }
      shown-- > 0 { sub(/^ +/, "  "); print substr($0, 1, 200) }' \
      "$logs/all" | head -60 || true
  fi
  printf '\n%s\n' '== duration of each step'
  printf '%s\n' "${rows[@]}"
  printf '%6s s  in total\n' "$SECONDS"
  awk '/^# test files: /{ passed += $4; failed += $6 } END { printf "\n%d passed, %d failed\n", passed, failed }' \
    "$logs/all"
  exit "$failed"
}

# Installs the packages of the commands that the machine lacks.
install_commands() { # COMMAND[:PACKAGE]…
  local each missing=()
  for each in "$@"; do command -v "${each%:*}" >/dev/null || missing+=("${each#*:}"); done
  [ "${#missing[@]}" = 0 ] ||
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends ca-certificates "${missing[@]}" >/dev/null; }
}
# The tests of the console use Chromium.
install_chromium() { install_commands chromium && chromium --version --no-sandbox; }

# Starts a real database for the tests of SQL, with a pooler in front of it. Without it, `npm test` uses PGlite.
start_databases() {
  .ci/postgres-with-pgvector | tail -1 | tee "$logs/postgres.uri" &&
  POOLER_PORT=$((PGPORT + 1000)) .ci/pgbouncer | tail -1 | tee "$logs/pooler.uri"
}
# Exports the URIs of the databases to the following tests.
use_databases() {
  # shellcheck disable=SC2046 # NAME=value pairs
  declare -g $(cat "$logs/postgres.uri" "$logs/pooler.uri")
  export TEST_DATABASE_URL=$DATABASE_URL TEST_POOLER_URL=$POOLER_URL
  unset DATABASE_URL
  psql -qAt "$TEST_POOLER_URL" -c 'select version()' \
    -c "select 'pgvector ' || extversion from pg_extension where extname = 'vector'"
}
# On a busy machine a test in the browser may time out, so the failed files run once more, one at a time.
run_browser_tests() { # FILE…, or nothing for all
  local log files
  log=$(mktemp "$logs/browser.XXXXXX")
  npm run test:console -- "$@" 2>&1 | tee "$log" && return
  files=$(sed -n 's/^# failed: //p' "$log")
  # shellcheck disable=SC2086 # a list of files
  [ -n "$files" ] && echo "== again: $files" && npm run test:console -- --jobs 1 $files
}

# Each commit has other random cases, and another run of the same commit has the same ones. Every run of tests prints
# how to repeat them. `.ci/long` has other cases in each run.
export TEST_SEED=${TEST_SEED:-$((16#$(git rev-parse HEAD | cut -c 1-7)))}
export PGPORT=${PGPORT:-15433}
# Tests use only the databases that are started here.
unset DATABASE_URL TEST_DATABASE_URL TEST_POOLER_URL TEST_STORE
mkdir -p .cache
