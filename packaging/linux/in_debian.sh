#!/bin/sh
# What packaging/selftest.py does inside a bare Debian, as root: install, use, upgrade, remove. Says what failed, and stops there.
# Usage: in_debian.sh FOLDER BUS   with tooltray.deb, newer.deb, apt (a repository), archive.tar.gz, modules; and the D-Bus address of a session with a tray.
# Leaves in FOLDER what the program's self-test found: self-test.json
set -eu
folder=$1 bus=$2
HOME=~root
export DEBIAN_FRONTEND=noninteractive HOME LANG=C.UTF-8
unset DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
bridge=$HOME/.tooltray/bin/tooltray-bridge
login=$HOME/.config/autostart/tooltray.desktop

fail() {
    echo "FAILED: $*" >&2
    exit 1
}
is_in() { # is_in TEXT WHERE: quietly, with the whole of WHERE when it is not
    case $2 in *"$1"*) ;; *) fail "no '$1' in: $2" ;; esac
}
until_is_in() { # until_is_in TEXT COMMAND...: for at most 30 s
    text=$1 left=60
    shift
    while :; do
        said=$("$@" 2>&1) || true
        case $said in *"$text"*) return ;; esac
        left=$((left - 1))
        [ $left -gt 0 ] || fail "no '$text' from $*: $said"
        sleep 0.5
    done
}
processes() { # ours, by their program; zombies have none
    for entry in /proc/[0-9]*; do
        program=$(readlink "$entry/exe" 2>/dev/null) || continue
        case $program in */tooltray/* | */tooltray-bridge) echo "$program" ;; esac
    done
}
hub_pid() { tooltray status 2>/dev/null | sed -n 's/.* pid \([0-9]*\)).*/\1/p'; }
none_runs() { [ -z "$(processes)" ] && echo none; }
initialize='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"selftest","version":"1"}}}'
call='{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"openssl"}}'
ask() { # what a client of one server is answered; the bridge gets no environment, as from many AI clients
    { printf '%s\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n%s\n' "$initialize" "$call" && sleep "${1:-5}"; } |
        env -i HOME="$HOME" "$bridge" --server ssl
}

cp "$folder/apt/tooltray.sources" /etc/apt/sources.list.d
apt-get -qq update
apt-get -qq install --yes --no-install-recommends xvfb xauth openssl >/dev/null 2>&1
! command -v python3 || fail "this Debian has a Python, so the test would prove little"
apt-get -qq install --yes --no-install-recommends tooltray >/dev/null 2>&1 || fail "the package cannot be installed from its repository"
rm /etc/apt/sources.list.d/tooltray.sources
for file in man/man1/tooltray.1.gz bash-completion/completions/tooltray zsh/vendor-completions/_tooltray fish/vendor_completions.d/tooltray.fish; do
    [ -s "/usr/share/$file" ] || fail "the package has no $file"
done
cat >/usr/local/bin/ssl-server <<'SERVER'
#!/bin/sh
# an MCP server whose one tool needs the system's OpenSSL: a frozen parent's libraries must not reach it
while IFS= read -r line; do
    id=${line#*'"id":'} id=${id%%[,\}]*}
    case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"ssl","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"openssl","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"slow","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}' ;;
    *'"tools/call"'*'"slow"'*) sleep 300 ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"'"$(openssl version 2>&1 | tr -d '"\\') in ${LD_LIBRARY_PATH:-no folder}"'"}]}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"Method not found"}}' && continue ;;
    *) continue ;;
    esac
    echo '{"jsonrpc":"2.0","id":'"$id"',"result":'"$result"'}'
done
SERVER
chmod +x /usr/local/bin/ssl-server

echo "each module is imported, each resource read"
tooltray run-module tooltray.app.self_test <"$folder/modules" >"$folder/self-test.json"

echo "the hub alone, a server, a call through the one path"
tooltray serve >/tmp/serve 2>&1 &
until_is_in "is running (serve" tooltray status
tooltray servers add ssl -- /usr/local/bin/ssl-server >/dev/null
is_in "version 0." "$(tooltray bridge show)"
is_in "Debian package" "$(tooltray bridge show)"
answer=$(ask)
is_in '"text":"OpenSSL ' "$answer"
is_in ' in no folder' "$answer"
tooltray stop >/dev/null

echo "the desktop on a screen, started as at login; an upgrade while a client is connected"
is_in "does not start" "$(tooltray autostart status)"
is_in "starts when you log in" "$(tooltray autostart on)"
is_in "Exec=/usr/lib/tooltray/current/tooltray --background" "$(cat "$login")"
DBUS_SESSION_BUS_ADDRESS=$bus xvfb-run -a sh -c "exec $(sed -n 's/^Exec=//p' "$login")" >/tmp/desktop 2>&1 &
until_is_in "is running (desktop" tooltray status
mkfifo /tmp/calls
env -i HOME="$HOME" "$bridge" --server ssl </tmp/calls >/tmp/held &
client=$!
exec 3>/tmp/calls
printf '%s\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n' "$initialize" >&3
number=0
for package in newer.deb tooltray.deb newer.deb; do # the second is a downgrade
    number=$((number + 1)) old=$(hub_pid)
    apt-get -qq install --yes --no-install-recommends --allow-downgrades "$folder/$package" >/dev/null 2>&1 || fail "$package cannot be installed"
    left=120 # half seconds
    while now=$(hub_pid) && { [ -z "$now" ] || [ "$now" = "$old" ]; }; do
        left=$((left - 1))
        [ $left -gt 0 ] || fail "the other version has not taken over after $package"
        sleep 0.5
    done
    is_in "is running (desktop" "$(tooltray status)"
    echo '{"jsonrpc":"2.0","id":"call '"$number"'","method":"tools/call","params":{"name":"openssl"}}' >&3
    until_is_in '"id":"call '"$number"'","result"' cat /tmp/held
done
until_is_in '"text":"OpenSSL ' ask
versions=$(cd /usr/lib/tooltray && echo [0-9]*) # of the first one runs the bridge, of the second a hub ran while the third was installed
[ "$versions" = "0.1.0+newer-2 0.1.0-1 0.1.0-2" ] || fail "other versions are kept: $versions"
exec 3>&-
wait $client || fail "the bridge that was connected has not ended in order"
tooltray stop >/dev/null || true
until_is_in none none_runs

echo "an upgrade while the window is open: it goes on with the files of its own version"
DBUS_SESSION_BUS_ADDRESS=$bus xvfb-run -a tooltray >/tmp/desktop 2>&1 &
until_is_in "is running (desktop" tooltray status
old=$(hub_pid) own=$(readlink "/proc/$(hub_pid)/exe")
apt-get -qq install --yes --no-install-recommends --allow-downgrades "$folder/tooltray.deb" >/dev/null 2>&1 || fail "tooltray.deb cannot be installed"
sleep 25 # a hub without a window would have left by now
[ "$(hub_pid)" = "$old" ] || fail "the hub with the open window has left"
[ "/proc/$old/exe" -ef "$own" ] || fail "the files of the hub that runs are gone: $own"
[ ! "$own" -ef /usr/lib/tooltray/current/tooltray ] || fail "there is no newer version"
for verb in $(tooltray api | sed -n 's/^\(get_[a-z_]*\) .*/\1/p'); do # what they need is imported now
    timeout 20 tooltray api "$verb" >/dev/null 2>&1 || true          # some miss arguments
done
! grep -hE "zlib.error|ImportError|ModuleNotFoundError|FileNotFoundError" -r "$HOME/.tooltray/logs" || fail "files of another version were read"

echo "removed while the window is open and a client calls: all ends in order, the bridge answers and starts nothing"
mkfifo /tmp/more
env -i HOME="$HOME" "$bridge" --server ssl </tmp/more >/tmp/held2 &
client=$!
exec 3>/tmp/more
printf '%s\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n' "$initialize" >&3
echo '{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"slow"}}' >&3
until_is_in sleep sh -c 'cat /proc/[0-9]*/comm'
is_in "starts when you log in" "$(tooltray autostart status)"
is_in "does not start" "$(tooltray autostart off)"
said=$(apt-get -qq purge --yes tooltray 2>&1) || fail "the package cannot be removed: $said"
case $said in *"not empty"*) fail "$said" ;; esac
until_is_in '"id":"slow","error"' cat /tmp/held2
echo '{"jsonrpc":"2.0","id":"after","method":"tools/call","params":{"name":"openssl"}}' >&3
until_is_in '"id":"after","error"' cat /tmp/held2
until_is_in 'Tooltray was removed' cat /tmp/held2
case $(processes | grep -v /tooltray-bridge) in ?*) fail "runs after the removal: $(processes)" ;; esac
[ ! -e "$HOME/.tooltray/run/hub.json" ] || fail "the hub has not ended in order"
exec 3>&-
code=0
wait $client || code=$?
[ $code = 1 ] || fail "the bridge of the removed program has ended with $code" # 1: no hub was to be had
until_is_in none none_runs

echo "nothing left but the home"
[ ! -e /usr/lib/tooltray ] && [ ! -e /usr/bin/tooltray ] || fail "programs are left"
left=$(find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path "$folder" \) -prune -o -iname '*tooltray*' ! -path "$HOME/.tooltray*" -print)
[ -z "$left" ] || fail "left: $left"
is_in "Install Tooltray again" "$(echo "$initialize" | "$bridge")"

echo "the portable archive for one person, whose path follows; uninstalled with everything"
mkdir /tmp/archive
tar -xzf "$folder/archive.tar.gz" -C /tmp/archive
sh /tmp/archive/*/install.sh >/dev/null
"$HOME/.local/bin/tooltray" serve >/tmp/serve 2>&1 &
until_is_in "portable archive" "$HOME/.local/bin/tooltray" bridge show
until_is_in '"text":"OpenSSL ' ask
confine=$HOME/.local/lib/tooltray/current/tooltray-confine
[ "$(TOOLTRAY_CONFINED_WORD=kept "$confine" --abi 0 --network none --keep-group -- /usr/bin/printenv WORD)" = kept ] || fail "the launcher"
cp -R "$HOME/.local/lib/tooltray/current/" "$HOME/.local/lib/tooltray/0.0.1"
cp -R "$HOME/.local/lib/tooltray/current/" "$HOME/.local/lib/tooltray/0.0.2"
mkfifo /tmp/input
env -i HOME="$HOME" "$HOME/.local/lib/tooltray/0.0.2/tooltray-bridge" </tmp/input >/dev/null &
client=$!
exec 4>/tmp/input
until_is_in 0.0.2 readlink "/proc/$client/exe"
sh /tmp/archive/*/install.sh >/dev/null # over what runs
[ ! -e "$HOME/.local/lib/tooltray/0.0.1" ] || fail "a version that nothing runs from is left"
[ -e "$HOME/.local/lib/tooltray/0.0.2" ] || fail "a version from which a bridge runs is gone"
exec 4>&-
wait $client || fail "the bridge of another version has not ended in order"
until_is_in '"text":"OpenSSL ' ask
"$HOME/.local/bin/tooltray" autostart on >/dev/null
is_in "Exec=$HOME/.local/lib/tooltray/current/tooltray --background" "$(cat "$login")"
"$HOME/.local/bin/tooltray" uninstall --yes >/dev/null
until_is_in none none_runs
left=$(find "$HOME" -iname '*tooltray*')
[ -z "$left" ] || fail "left: $left"

echo "the portable archive once more; its own script leaves the home, and nothing else"
sh /tmp/archive/*/install.sh >/dev/null
rm -r /tmp/archive
"$HOME/.local/bin/tooltray" servers add ssl -- /usr/local/bin/ssl-server >/dev/null
"$HOME/.local/bin/tooltray" autostart on >/dev/null
"$HOME/.local/lib/tooltray/install.sh" --uninstall >/dev/null
left=$(find "$HOME" -iname '*tooltray*' ! -path "$HOME/.tooltray*")
[ -z "$left" ] || fail "left: $left"
[ -e "$HOME/.tooltray/settings.json" ] || fail "the settings are gone"
