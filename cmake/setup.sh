# Shared by ./check, ./demo and bench/compile (sourced): installs what is missing.
# shellcheck shell=bash

# missing_packages PACKAGE...: prints those that dpkg does not know as installed.
missing_packages() {
  local package
  for package in "$@"; do
    if [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true) != installed ]]; then
      echo "$package"
    fi
  done
}

# install_packages COMMAND... -- PACKAGE...: has all packages installed on Debian and Ubuntu. Asks no
# network when nothing is missing. On other systems it only requires that the commands exist.
install_packages() {
  local commands=() missing=() sudo=() command
  while [[ $# -gt 0 && $1 != -- ]]; do commands+=("$1"); shift; done
  shift
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    for command in "${commands[@]}"; do
      command -v "$command" >/dev/null || missing+=("$command")
    done
    if [[ ${#missing[@]} -gt 0 ]]; then
      echo "setup: no apt-get here, and these commands are missing: ${missing[*]}" >&2
      echo "setup: install what corresponds to the Debian packages: $*" >&2
      return 1
    fi
    return 0
  fi
  mapfile -t missing < <(missing_packages "$@")
  if [[ ${#missing[@]} -eq 0 ]]; then return 0; fi
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null || { [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; }; then
      echo "setup: these packages are missing: ${missing[*]}" >&2
      echo "setup: run as root, or have sudo, or install them: apt-get install ${missing[*]}" >&2
      return 1
    fi
    sudo=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  # A source that does not answer is no reason to stop: the packages may come from another.
  "${sudo[@]}" apt-get update -qq || echo "setup: apt-get update failed, trying all the same" >&2
  if ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null; then
    echo "setup: apt-get could not install: ${missing[*]}" >&2
    return 1
  fi
}
