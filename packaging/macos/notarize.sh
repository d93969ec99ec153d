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
# its exit code says nothing: 0 also when Apple refuses
answer=$(xcrun notarytool submit "$sent" --keychain-profile "$profile" --wait --output-format json | tr -d '[:space:]') || true
if [[ $answer != *'"status":"Accepted"'* ]]; then
    echo "$answer" >&2
    id=${answer#*\"id\":\"}
    if [ "$id" != "$answer" ]; then  # names each file, with the reason
        xcrun notarytool log "${id%%\"*}" --keychain-profile "$profile" >&2
    fi
    exit 1
fi
# the ticket may be there only minutes after Apple has accepted ("Record not found", error 65)
tries=10
until xcrun stapler staple "$thing"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ]
    sleep 30
done
xcrun stapler validate "$thing"
spctl --assess "${assess[@]}" --verbose=2 "$thing"
