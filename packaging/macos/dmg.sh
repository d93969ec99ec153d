#!/usr/bin/env bash
# Makes a disk image with Tooltray.app and a link to /Applications, and signs it. Not run by the project yet.
# Usage: dmg.sh dist/Tooltray.app dist/tooltray-VERSION.dmg "Developer ID Application: NAME (TEAM)"
set -euo pipefail
app=${1%/} image=$2 identity=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"  # it becomes the image's own folder, and mktemp's is for one user
cp -R "$app" "$folder/"  # -R keeps the links inside frameworks
ln -s /Applications "$folder/Applications"
# "Resource busy" comes and goes, most often on hosted machines: https://github.com/actions/runner-images/issues/7522
tries=5
until hdiutil create -volname Tooltray -srcfolder "$folder" -fs HFS+ -format UDZO -ov "$image"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ]
    sleep 10
done
if [ "$identity" != - ]; then codesign --force --timestamp --sign "$identity" --identifier dev.tooltray.Tooltray.image "$image"; fi
