#!/usr/bin/env bash
# Installs what the real parts need and this machine lacks, from Debian's packages.
# usage: prepare.sh [postgres] [hive] [referees]      without arguments: all three
# Does nothing, quickly, when all is there. Without root or apt-get it says what to install, and fails.
set -euo pipefail

packages=()
for part in "${@:-all}"; do
  case $part in
    all | postgres | hive | referees) ;;
    *) echo "prepare.sh: unknown part \"$part\": want postgres, hive or referees" >&2; exit 2 ;;
  esac
  if [[ $part == @(all|postgres) ]]; then
    command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || packages+=(postgresql)
  fi
  if [[ $part == @(all|hive|referees) ]]; then
    command -v "${JAVA_HOME:+$JAVA_HOME/bin/}javac" >/dev/null || packages+=(openjdk-17-jdk-headless)
    command -v mvn >/dev/null || packages+=(maven)
  fi
  if [[ $part == @(all|referees) ]]; then
    python3 -c 'import venv, ensurepip' 2>/dev/null || packages+=(python3-venv)
    command -v node >/dev/null || packages+=(nodejs)
    command -v npm >/dev/null || packages+=(npm)
  fi
done
if [[ ${#packages[@]} -eq 0 ]]; then exit 0; fi

if [[ $(id -u) -ne 0 ]] || ! command -v apt-get >/dev/null; then
  echo "prepare.sh: missing here: ${packages[*]} (Debian's names). As root: apt-get install -y ${packages[*]}" >&2
  exit 1
fi
echo "installing ${packages[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}" </dev/null
