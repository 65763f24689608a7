#!/bin/sh
# Tries this checkout's last commit on a machine that has Python, make, git and curl, and no more: a
# container where an engine runs; otherwise, as root, a Debian made by debootstrap, in namespaces of
# its own. Runs README's commands and the first hour; WORDS are what to run there instead.
# Use: tools/bare_machine.sh [WORDS]; BARE_ROOT says where the Debian lies, and is kept.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
source=$(mktemp -d)
git clone -q --no-hardlinks "$here" "$source"
words=${*:-make demo && make test && python3 -m tests.e2e.first_hour}
inside='git config --global --add safe.directory "*" && git clone -q /source /srv/biaswatch && cd /srv/biaswatch && '
for engine in docker podman; do
    if "$engine" info >/dev/null 2>&1; then
        exec "$engine" run --rm -v "$source:/source:ro" python:3.11 sh -c "$inside$words"
    fi
done
if ! command -v debootstrap >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "There is no container engine, and no debootstrap to use as root: one of them is needed." >&2
    exit 2
fi
root=${BARE_ROOT:-$(mktemp -d)}
[ -e "$root/usr/bin/make" ] || debootstrap --variant=minbase \
    --include=python3,python3-venv,make,git,ca-certificates,curl bookworm "$root" >"$root.log"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
# What pip is told on this machine holds there too, with the folders that it names.
pip_file=$root/etc/pip.conf
folders=$(python3 -m pip config list | grep -oE "/[A-Za-z0-9_/.-]+" |
    sed 's#/simple$##' | sort -u || true) # an index of files has them beside its pages
python3 -m pip config list | sed -nE "s/^(global|:env:)\.([a-z-]+)='(.*)'$/\2 = \3/p" |
    { echo "[global]"; sort -u -t= -k1,1; } >"$pip_file"
export source root words inside folders
exec unshare --mount --pid --fork --uts --ipc sh -c '
    mkdir -p "$root/source" "$root/srv" && rm -rf "$root/srv/biaswatch"
    mount --bind -o ro "$source" "$root/source"
    for each in $folders; do
        [ -d "$each" ] && mkdir -p "$root$each" && mount --bind -o ro "$each" "$root$each"
    done
    mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/tmp"; mount -t tmpfs tmpfs "$root/run"
    exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM=xterm \
        PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin sh -c "$inside$words"'
