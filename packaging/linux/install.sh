#!/bin/sh
# Installs Tooltray for you alone, into ~/.local; `install.sh --uninstall` removes it again and leaves ~/.tooltray and your keyring alone.
# Each version has a folder of its own, so that what runs goes on until the new version takes over.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}
programs=$HOME/.local/lib/tooltray
register() { update-desktop-database "$data/applications" >/dev/null 2>&1 || true; }  # who opens tooltray:// links; not everywhere there
bin=$HOME/.local/bin

shared="bash-completion/completions/tooltray zsh/site-functions/_tooltray fish/vendor_completions.d/tooltray.fish
man/man1/tooltray.1 man/man1/tooltray-bridge.1"  # completions and manual pages
guardians() { # of the hubs that run from here
    for entry in /proc/[0-9]*; do
        case $(readlink "$entry/exe" || true) in "$programs"/*/tooltray) ;; *) continue ;; esac
        [ "$(cat "$entry/comm")" != tooltray-guard ] || echo "${entry#/proc/}"
    done 2>/dev/null
}
links() { for name in tooltray tooltray-bridge; do echo "$bin/$name"; done; }

if [ "${1:-}" = --uninstall ]; then
    if [ -L "$programs/current" ]; then
        ln -sfn removed "$programs/.current"
        mv -T "$programs/.current" "$programs/current" # from here on no bridge finds a program to start
    fi
    guardians | xargs -r kill 2>/dev/null || true # each ends its window, hub and servers, in this order
    left=175
    while [ $left -gt 0 ] && [ -n "$(guardians)" ]; do
        left=$((left - 1))
        sleep 0.2
    done
    rm -f "$HOME/.tooltray/removed" # nothing is left that this mark of `tooltray uninstall` could hold back
    rmdir "$HOME/.tooltray" 2>/dev/null || true
    links | while IFS= read -r link; do [ ! -L "$link" ] || rm "$link"; done
    rm -rf "$programs"
    login=${XDG_CONFIG_HOME:-$HOME/.config}/autostart/tooltray.desktop
    if grep -qs "^TryExec=.*/lib/tooltray/current/tooltray$" "$login"; then rm "$login"; fi  # it starts this program, and no other one
    rm -f "$data/applications/tooltray.desktop" "$data/icons/hicolor/scalable/apps/tooltray.svg"
    for file in $shared; do rm -f "$data/$file"; done
    register
    echo "Tooltray is removed. Your servers and settings are still in ~/.tooltray; \`tooltray uninstall\` would have removed them, too."
    exit
fi
if [ $# -gt 0 ]; then
    echo "usage: install.sh [--uninstall]" >&2
    exit 2
fi
version=$(cat "$here/version")
mkdir -p "$programs" "$bin" "$data/applications" "$data/icons/hicolor/scalable/apps"
exec 9>"$programs/.lock"
if command -v flock >/dev/null; then flock 9; fi  # one after the other: another installation may be copying
trap 'rm -rf "$programs/.new" "$programs/.old" "$programs/.current"' EXIT
rm -rf "$programs/.new" "$programs/.old"
cp -R "$here/tooltray" "$programs/.new"
[ ! -e "$programs/$version" ] || mv "$programs/$version" "$programs/.old"
mv "$programs/.new" "$programs/$version"
cp "$0" "$programs/install.sh"  # which can uninstall
ln -sfn "$version" "$programs/.current"
mv -T "$programs/.current" "$programs/current"  # at once: a client may be starting its bridge
running=$(readlink /proc/[0-9]*/exe || true)
for folder in "$programs"/[0-9]*; do  # of other versions, those that nothing runs from
    case "$folder $running" in
        "$programs/$version "* | *"$folder/tooltray"*) ;;
        *) rm -rf "$folder" ;;
    esac
done
links | while IFS= read -r link; do ln -sf "$programs/current/${link##*/}" "$link"; done
for file in $shared; do mkdir -p "$data/${file%/*}" && cp "$here/share/$file" "$data/$file"; done
cp "$here/tooltray.svg" "$data/icons/hicolor/scalable/apps/tooltray.svg"
sed "s|^Exec=tooltray|Exec=\"$bin/tooltray\"|; s|^TryExec=tooltray|TryExec=$bin/tooltray|" "$here/tooltray.desktop" >"$data/applications/tooltray.desktop"
register
echo "Tooltray $version is in $programs/$version. Start it from your menu, or with: $bin/tooltray"
echo "To remove it: $programs/install.sh --uninstall"
