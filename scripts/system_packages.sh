#!/usr/bin/env bash
# Installs what has to come from the system (Debian, Ubuntu): by apt-get without questions as root; else prints the line to run and fails.
# Says nothing when all of it is there. Usage: system_packages.sh python|tests|browser|package|package-test|publishing|windows
set -euo pipefail

python=(python3-venv)  # Debian splits ensurepip off Python

# Qt needs GL and X11 libraries even off screen
qt=(libglib2.0-0 libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libfreetype6 libx11-6 libbrotli1)
# its xcb plugin, for a real window
xcb=(libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-render0 libxcb-shape0 libxcb-shm0
    libxcb-sync1 libxcb-util1 libxcb-xfixes0 libxcb-xkb1 libx11-xcb1 libxkbcommon-x11-0)
screen=(xvfb xauth x11-utils imagemagick)  # a screen, a look at its windows, a picture of it
freezing=(chrpath dpkg xz-utils fonts-inter fonts-jetbrains-mono)
# a Windows that is none, a compiler for what it lacks and for the launcher, and an installer's maker
windows=(wine wine64 gcc-mingw-w64-x86-64 nsis xvfb xauth python3-pip fonts-inter fonts-jetbrains-mono)
browser=(chromium)  # what renders the views of MCP Apps
session=(dbus gnome-keyring pass)  # places of secrets
confinement=(bubblewrap)  # around confined servers
linking=(binutils)  # makes a library of a package smaller
publishing=(gnupg makepkg pacman-package-manager fakeroot libarchive-tools ruby)  # what reads the files of package repositories
showing=(appstream desktop-file-utils)  # what reads the files for software centres
fonts=(fonts-inter fonts-jetbrains-mono fonts-noto-cjk fonts-noto-color-emoji fonts-dejavu-core)

case ${1:-} in
python) wanted=("${python[@]}") ;;
package)
    # the freezer wants Python as a shared library, which Debian keeps apart from its own Python
    mapfile -t shared < <(.cache/package/bin/python -c 'import sys; sys.base_prefix == "/usr" and print("libpython%d.%d" % sys.version_info[:2])')
    wanted=("${qt[@]}" "${xcb[@]}" "${freezing[@]}" "${shared[@]}" "${linking[@]}")
    ;;
windows) wanted=("${windows[@]}") ;;
package-test) wanted=(mmdebstrap util-linux mount lintian dbus gnupg) ;;
publishing) wanted=("${publishing[@]}") ;;
tests) wanted=("${qt[@]}" "${xcb[@]}" "${screen[@]}" "${session[@]}" "${confinement[@]}" "${linking[@]}" "${fonts[@]}" "${publishing[@]}"
    "${showing[@]}") ;;
browser) wanted=("${browser[@]}") ;;
*)
    echo "usage: $0 python|tests|browser|package|package-test|publishing|windows" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null; then
    echo "No apt-get here. On Debian this needs: ${wanted[*]}. Install what corresponds, if it is missing." >&2
    [ "$1" = tests ] || [ "$1" = browser ]
    exit
fi
install=(apt-get install --yes --no-install-recommends --no-upgrade)
# what apt would install anew; packages that another one stands in for (Ubuntu's renamed libraries) count as there
if planned=$("${install[@]}" --simulate "${wanted[@]}" 2>/dev/null) && ! grep -q '^Inst ' <<<"$planned"; then
    exit 0
fi
if [ "$(id -u)" != 0 ]; then
    echo "System packages are missing. Run this, then try again:" >&2
    echo "  sudo apt-get update && sudo ${install[*]} ${wanted[*]}" >&2
    exit 1
fi
echo "Installing system packages: ${wanted[*]}"
export DEBIAN_FRONTEND=noninteractive
quiet=(-qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
apt-get "${quiet[@]}" update </dev/null
"${install[@]}" "${quiet[@]}" "${wanted[@]}" </dev/null >/dev/null
