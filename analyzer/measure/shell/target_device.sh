# device_free DEVICE NAMED: whether a load may write to a block device. One that is in use is refused, and so is
# one that carries something known, unless NAMED is 1. What is no block device is let through.
device_used() { # NODE OF SYSFS: prints who uses it
	[ -r "$1/dev" ] && read -r number <"$1/dev" || return 0
	while read -r _ _ at _ point _; do
		[ "$at" != "$number" ] || echo "mounted at $point"
	done </proc/self/mountinfo
	while read -r from point _; do
		[ "$from" != "/dev/${1##*/}" ] || echo "mounted at $point"
	done </proc/self/mounts
	while read -r from _; do
		[ "$from" != "/dev/${1##*/}" ] || echo "swap space"
	done </proc/swaps
	for holder in "$1"/holders/*; do
		[ ! -e "$holder" ] || echo "held by ${holder##*/}"
	done
	for loop in /sys/block/loop*; do
		[ -r "$loop/loop/backing_file" ] && read -r from <"$loop/loop/backing_file" || continue
		[ "$from" != "/dev/${1##*/}" ] || echo "what the loop device ${loop##*/} is backed by"
	done
}
device_free() {
	[ -b "$1" ] || return 0
	real=$(readlink -f "$1")
	node=$(readlink -f "/sys/class/block/${real##*/}")
	used=$(
		device_used "$node"
		for part in "$node"/*/partition; do
			[ ! -e "$part" ] || device_used "${part%/partition}"
		done
	)
	[ -z "$used" ] || {
		echo "$1: the load names this device, which is in use: $(echo "$used" | head -n 1); free it first" >&2
		return 1
	}
	[ "$2" != 1 ] || return 0
	PATH=$PATH:/usr/sbin:/sbin command -v blkid >/dev/null || {
		echo "$1: the load names this device, and blkid is not installed, which says what it carries;" \
			"--overwrite $1 takes it as it is" >&2
		return 1
	}
	carries=$(PATH=$PATH:/usr/sbin:/sbin blkid -p -o value -s TYPE -s PTTYPE "$real" 2>/dev/null)
	case $? in
	0) ;;
	2) [ "$carries" ] || return 0 ;;
	*) carries="signatures of several kinds" ;;
	esac
	[ "$carries" ] || return 0
	echo "$1: the load names this device, which carries" $carries "and would be destroyed; --overwrite $1 allows it" >&2
	return 1
}
