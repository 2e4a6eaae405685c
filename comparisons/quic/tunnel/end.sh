#!/bin/sh
# One end of a WireGuard tunnel in user space, with a TCP download and pings inside:
#   end.sh server BORINGTUN FOLDER ADDRESS
#   end.sh client BORINGTUN FOLDER ADDRESS SECONDS
# ADDRESS is the server's outside the tunnel. FOLDER has both ends' keys, and gets tcp.json and ping.txt.
set -eu
end=$1 boringtun=$2 folder=$3 address=$4 seconds=${5:-}
port=51820 inside=10.251.0
case $end in
server) own=1 other=client ;;
client) own=2 other=server ;;
esac

# Its socket has the device's name, which must be unique on the machine.
device=tg$$
trap 'rm -f /var/run/wireguard/$device.sock' EXIT
trap 'exit 1' TERM INT
"$boringtun" --foreground --disable-drop-privileges --verbosity error "$device" >&2 &
until wg show "$device" >/dev/null 2>&1; do sleep 0.05; done

case $end in
server) set -- listen-port $port peer "$(cat "$folder/$other.public")" ;;
client) set -- peer "$(cat "$folder/$other.public")" endpoint "$address:$port" ;;
esac
wg set "$device" private-key "$folder/$end.private" "$@" allowed-ips $inside.0/24
ip address add $inside.$own/24 dev "$device"
ip link set "$device" mtu 1420 up

case $end in
server)
    iperf3 --server --bind $inside.1 >&2 &
    ;;
client)
    until ping -c 1 -W 1 $inside.1 >/dev/null; do :; done
    ping -n -i 0.02 -w "$seconds" $inside.1 >"$folder/ping.txt" &
    iperf3 --client $inside.1 --reverse --time "$seconds" --congestion cubic --json >"$folder/tcp.json" &
    ;;
esac
# While the shell waits here, its trap can run at once.
wait
