#!/usr/bin/env bash
# Makes a disk image with Tooltray.app and a link to /Applications, and signs it. Not run by the project yet.
# Usage: dmg.sh dist/Tooltray.app dist/tooltray-VERSION.dmg "Developer ID Application: NAME (TEAM)"
set -euo pipefail
app=${1%/} image=$2 identity=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$app" "$folder/"  # -R keeps the links inside frameworks
ln -s /Applications "$folder/Applications"
hdiutil create -volname Tooltray -srcfolder "$folder" -fs HFS+ -format UDZO -ov "$image"
if [ "$identity" != - ]; then codesign --force --timestamp --sign "$identity" "$image"; fi
