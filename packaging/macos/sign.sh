#!/usr/bin/env bash
# Signs Tooltray.app from the inside out: libraries, frameworks, the bridge, the app. Not run by the project on a Mac yet.
# Usage: sign.sh dist/Tooltray.app "Developer ID Application: NAME (TEAM)"      `-` as identity signs for this machine alone
# codesign --deep is not enough: it gives nested code the wrong entitlements (Apple, "Creating distribution-signed code for macOS").
set -euo pipefail
app=${1%/} identity=$2
here=$(cd "$(dirname "$0")" && pwd)
options=(--force --sign "$identity")
# The notary service asks for the hardened runtime and a secure time stamp. Without an identity neither: the hardened runtime loads only
# libraries of the program's own team, a signature without an identity has none, and the app would not start.
if [ "$identity" != - ]; then options+=(--options runtime --timestamp); fi

# What the app needs of what the hardened runtime forbids. The reasons stand here, as Apple's parser of entitlements has refused comments:
# - allow-unsigned-executable-memory: ctypes and cffi make functions for C at run time.
# - disable-library-validation: servers in ~/.tooltray/python run inside this program, and others have signed their libraries
#   (docs/guides/inmemory.md).
# - automation.apple-events: macOS holds the app responsible for the servers that it starts. Without it, macOS refuses what they ask of
#   other apps (AppleScript) without asking the user; Tooltray itself sends no Apple Events.
# The bridge does none of that, so it has no entitlements; libraries have those of the program that loads them.
entitlements=$here/entitlements.plist

is_mach_o() { # thin or universal, by the first four bytes
    case $(LC_ALL=C od -An -N4 -tx1 "$1" | tr -d ' \n') in
    cffaedfe | cefaedfe | cafebabe | cafebabf) true ;;
    *) false ;;
    esac
}

# libraries and what else is no program of ours; deepest first, since a signature covers what lies below it
find "$app/Contents" -type f ! -path "$app/Contents/MacOS/*" -print | awk -F/ '{ print NF "\t" $0 }' | sort -rn | cut -f2- |
    while IFS= read -r file; do
        if is_mach_o "$file"; then codesign "${options[@]}" "$file"; fi
    done
find "$app/Contents" -type d -name '*.framework' -print | awk -F/ '{ print NF "\t" $0 }' | sort -rn | cut -f2- |
    while IFS= read -r framework; do codesign "${options[@]}" "$framework"; done
# the main program is signed with the app: codesign takes its path for that of the bundle
for program in "$app"/Contents/MacOS/*; do
    name=${program##*/}
    if [ "$name" != tooltray ]; then codesign "${options[@]}" --identifier "dev.tooltray.Tooltray.$name" "$program"; fi
done
codesign "${options[@]}" --entitlements "$entitlements" "$app"
codesign --verify --strict --deep --verbose=2 "$app"
