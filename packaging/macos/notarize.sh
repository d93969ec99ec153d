#!/usr/bin/env bash
# Has Apple check a signed app or disk image, and staples the ticket to it. Not run by the project yet.
# Usage: notarize.sh dist/Tooltray.app PROFILE, and when the image was made of the stapled app: notarize.sh dist/tooltray-VERSION.dmg PROFILE
# PROFILE is one of the keychain, made once: xcrun notarytool store-credentials PROFILE --apple-id ... --team-id ... --password ...
# The app has a ticket of its own, since it leaves the image: it starts then also on a Mac that is offline.
set -euo pipefail
thing=${1%/} profile=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $thing in
*.app)
    sent=$folder/app.zip assess=(--type execute)
    ditto -c -k --keepParent "$thing" "$sent"  # the service takes no folders, and keeps nothing of the archive
    ;;
*) sent=$thing assess=(--type open --context context:primary-signature) ;;
esac
answer=$(xcrun notarytool submit "$sent" --keychain-profile "$profile" --wait --output-format json | tr -d '[:space:]')
if [[ $answer != *'"status":"Accepted"'* ]]; then  # notarytool exits with 0 also when Apple refuses
    echo "$answer" >&2
    id=${answer#*\"id\":\"}
    id=${id%%\"*}
    xcrun notarytool log "$id" --keychain-profile "$profile" >&2  # names each file, with the reason
    exit 1
fi
xcrun stapler staple "$thing"
xcrun stapler validate "$thing"
spctl --assess "${assess[@]}" --verbose=2 "$thing"
