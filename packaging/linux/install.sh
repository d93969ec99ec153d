#!/bin/sh
# Installs Tooltray for you alone, into ~/.local; `install.sh --uninstall` removes it again and leaves ~/.tooltray and your keyring alone.
# Each version has a folder of its own, so that what runs goes on until the new version takes over.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}
programs=$HOME/.local/lib/tooltray
bin=$HOME/.local/bin

links() { for name in tooltray tooltray-bridge; do echo "$bin/$name"; done; }

if [ "${1:-}" = --uninstall ]; then
    [ ! -x "$programs/current/tooltray" ] || "$programs/current/tooltray" stop >/dev/null 2>&1 || true
    links | while IFS= read -r link; do [ ! -L "$link" ] || rm "$link"; done
    rm -rf "$programs"
    rm -f "$data/applications/tooltray.desktop" "$data/icons/hicolor/scalable/apps/tooltray.svg"
    echo "Tooltray is removed. Your servers and settings are still in ~/.tooltray; \`tooltray uninstall\` would have removed them, too."
    exit
fi
if [ $# -gt 0 ]; then
    echo "usage: install.sh [--uninstall]" >&2
    exit 2
fi
version=$(cat "$here/version")
mkdir -p "$programs" "$bin" "$data/applications" "$data/icons/hicolor/scalable/apps"
rm -rf "$programs/.new"
cp -R "$here/tooltray" "$programs/.new"
rm -rf "${programs:?}/$version"
mv "$programs/.new" "$programs/$version"
cp "$0" "$programs/install.sh"  # which can uninstall
ln -sfn "$version" "$programs/current"
links | while IFS= read -r link; do ln -sf "$programs/current/${link##*/}" "$link"; done
cp "$here/tooltray.svg" "$data/icons/hicolor/scalable/apps/tooltray.svg"
sed "s|^Exec=tooltray|Exec=\"$bin/tooltray\"|; s|^TryExec=tooltray|TryExec=$bin/tooltray|" "$here/tooltray.desktop" >"$data/applications/tooltray.desktop"
echo "Tooltray $version is in $programs/$version. Start it from your menu, or with: $bin/tooltray"
echo "To remove it: $programs/install.sh --uninstall"
