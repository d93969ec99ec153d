#!/usr/bin/env bash
# Signs Tooltray.app for notarisation, from the inside out: libraries, frameworks, programs, the bundle. Not run by the project yet.
# Usage: sign.sh dist/Tooltray.app "Developer ID Application: NAME (TEAM)"      `-` as identity signs for this machine alone
# codesign --deep is not enough: it gives nested code the wrong entitlements (Apple, "Creating distribution-signed code for macOS").
set -euo pipefail
app=${1%/} identity=$2
here=$(cd "$(dirname "$0")" && pwd)
options=(--force --options runtime --sign "$identity")
[ "$identity" = - ] || options+=(--timestamp)  # the notary service wants a secure time stamp

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
# entitlements belong to programs; libraries have those of the program that loads them
for program in "$app"/Contents/MacOS/*; do
    if is_mach_o "$program"; then codesign "${options[@]}" --entitlements "$here/entitlements.plist" "$program"; fi
done
codesign "${options[@]}" --entitlements "$here/entitlements.plist" "$app"
codesign --verify --strict --deep --verbose=2 "$app"
