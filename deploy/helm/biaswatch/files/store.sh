#!/bin/sh
# Dump the store into a folder, or restore it from a dump:
#   store.sh dump FOLDER | store.sh restore FILE
# The file that STORE_URL_FILE names holds the store's URL.
set -eu
url=$(sed 's/^postgresql+[a-z0-9]*:/postgresql:/' "$STORE_URL_FILE")

case "${1:-}" in
dump)
  file="$2/store-$(date -u +%Y%m%dT%H%M%SZ).dump"
  pg_dump --format=custom --no-owner --no-privileges --exclude-schema='biaswatch_v*' \
    --file="$file.part" --dbname="$url"
  # A dump that cannot be read back is none.
  pg_restore --list "$file.part" >/dev/null
  mv "$file.part" "$file"
  echo "The dump $(basename "$file") has $(wc -c <"$file") bytes."
  ;;
restore)
  pg_restore --list "$2" >/dev/null
  # Views for Grafana depend on the tables; views.sql makes them again.
  psql --quiet --dbname="$url" --command='DROP SCHEMA IF EXISTS biaswatch_v1 CASCADE'
  # All of it or nothing: what is there stays, if anything fails.
  pg_restore --clean --if-exists --no-owner --no-privileges --single-transaction \
    --exit-on-error --dbname="$url" "$2"
  echo "The store is as it was when $(basename "$2") was made. Now provision."
  ;;
*)
  echo "store.sh dump FOLDER, or store.sh restore FILE" >&2
  exit 2
  ;;
esac
