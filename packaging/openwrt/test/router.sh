# shellcheck shell=ash disable=SC2034,SC3043,SC2154 The part of OpenWrt's shell that an init script uses:
# /etc/rc.common, /lib/functions.sh with UCI, and procd's calls, which are printed instead of executed.
#
#   sh router.sh CONFIG FOLDER ACTION      CONFIG in place of /etc/config/tidegate, FOLDER in place of /var/run/tidegate
#
# Environment: DEVICES, lines "network device" of the networks that are up; RUNNING=1, procd runs the service.

config_file=$1 folder=$2 action=$3

# UCI: a file of sections is read as shell commands, as OpenWrt evaluates the output of `uci export`.
package() { :; }
config() {
	section=${2:-section$((count = ${count:-0} + 1))}
	sections="$sections $section"
	eval "type_$section=\$1"
}
option() { eval "option_${section}_$1=\$2"; }
list() {
	local uci_length
	eval "uci_length=\${length_${section}_$1:-0}"
	[ "$uci_length" != 0 ] || lists="$lists ${section}_$1"
	eval "item_${section}_$1_$uci_length=\$2 length_${section}_$1=$((uci_length + 1)) option_${section}_$1=\$2"
}
config_load() {
	for section in ${lists:-}; do eval "length_$section="; done
	sections='' lists='' count=0
	# shellcheck disable=SC1090
	. "$config_file"
}
config_get() { eval "$1=\${option_$2_$3:-\${4:-}}"; }
config_get_bool() {
	local uci_value
	config_get uci_value "$2" "$3" "${4:-}"
	case "$uci_value" in 1 | on | true | yes | enabled) eval "$1=1" ;; *) eval "$1=0" ;; esac
}
config_foreach() {
	local uci_section uci_type
	for uci_section in $sections; do
		eval "uci_type=\$type_$uci_section"
		[ "$uci_type" != "$2" ] || "$1" "$uci_section" "$3"
	done
}
config_list_foreach() {
	local uci_number=0 uci_length uci_value
	eval "uci_length=\${length_$1_$2:-0}"
	while [ "$uci_number" -lt "$uci_length" ]; do
		eval "uci_value=\$item_$1_$2_$uci_number"
		"$3" "$uci_value"
		uci_number=$((uci_number + 1))
	done
}

# /lib/functions/network.sh.
network_flush_cache() { :; }
network_get_device() {
	local found
	found=$(echo "$DEVICES" | sed -n "s/^$2 //p")
	eval "$1=\$found"
	[ -n "$found" ]
}

# procd.
for call in open_instance set_param close_instance add_reload_trigger add_reload_interface_trigger send_signal; do
	eval "procd_$call() { echo \"$call \$*\"; }"
done
procd_running() { [ "${RUNNING:-}" = 1 ]; }

# /etc/rc.common with USE_PROCD.
start() {
	start_service
	service_triggers
}
stop() { echo stop; }
reload() { reload_service; }

script=$(mktemp)
trap 'rm -f "$script"' EXIT
sed -e "s#^FOLDER=.*#FOLDER=$folder#" -e '/network\.sh$/d' "$(dirname "$0")/../files/tidegate.init" >"$script"
# shellcheck disable=SC1090
. "$script"
"$action"
