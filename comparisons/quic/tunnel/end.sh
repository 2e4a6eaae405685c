#!/bin/sh
# One end of a tunnel in user space, with a TCP download and pings inside:
#   end.sh server|client wireguard BORINGTUN FOLDER ADDRESS SECONDS
#   end.sh server|client openvpn OPENVPN FOLDER ADDRESS SECONDS     over TCP
# ADDRESS is the server's outside the tunnel. FOLDER has both ends' keys (*.public and *.private for WireGuard, and
# certificate.pem and key.pem for OpenVPN, of which both ends use the same), and gets tcp.json and ping.txt.
set -eu
end=$1 kind=$2 program=$3 folder=$4 address=$5 seconds=$6
inside=10.251.0
case $end in
server) own=1 other=client peer=2 ;;
client) own=2 other=server peer=1 ;;
esac

# WireGuard's socket has the device's name, which must be unique on the machine. A process number is not: each laboratory
# counts its own.
device=tg$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
trap 'rm -f /var/run/wireguard/$device.sock' EXIT
trap 'exit 1' TERM INT

start_wireguard() {
    "$program" --foreground --disable-drop-privileges --verbosity error "$device" >&2 &
    until wg show "$device" >/dev/null 2>&1; do sleep 0.05; done
    case $end in
    server) set -- listen-port 51820 peer "$(cat "$folder/$other.public")" ;;
    client) set -- peer "$(cat "$folder/$other.public")" endpoint "$address:51820" ;;
    esac
    wg set "$device" private-key "$folder/$end.private" "$@" allowed-ips $inside.0/24
    ip address add $inside.$own/24 dev "$device"
    ip link set "$device" mtu 1420 up
}

start_openvpn() {
    case $end in
    server) set -- --proto tcp-server --tls-server --dh none ;;
    client) set -- --proto tcp-client --tls-client --remote "$address" --connect-retry 1 ;;
    esac
    # Its device drops what does not fit into 500 packets, while the kernel's TCP socket takes no more.
    "$program" --dev "$device" --dev-type tun --port 1194 --socket-flags TCP_NODELAY "$@" \
        --ifconfig $inside.$own $inside.$peer --data-ciphers AES-256-GCM --verb 1 \
        --ca "$folder/certificate.pem" --cert "$folder/certificate.pem" --key "$folder/key.pem" >&2 &
    until ip address show dev "$device" 2>/dev/null | grep -q inet; do sleep 0.05; done
}

"start_$kind"
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
