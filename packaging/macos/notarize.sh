#!/usr/bin/env bash
# Has Apple check the signed disk image, and staples the ticket to it. Not run by the project yet.
# Usage: notarize.sh dist/tooltray-VERSION.dmg PROFILE
# PROFILE is one of the keychain, made once: xcrun notarytool store-credentials PROFILE --apple-id ... --team-id ... --password ...
set -euo pipefail
image=$1 profile=$2
xcrun notarytool submit "$image" --keychain-profile "$profile" --wait  # altool is not accepted any more
xcrun stapler staple "$image"
xcrun stapler validate "$image"
spctl --assess --type open --context context:primary-signature --verbose=2 "$image"
