# Prints what the folder $d lies on: "@place DEVICE TYPE SCHEDULER FREE-KIB". A word that is not known is "-".
df -P -k "$d" | {
	read -r _
	read -r device _ _ free _ point
	type=-
	while read -r _ where kind _; do
		[ "$where" != "$point" ] || type=$kind
	done </proc/mounts
	scheduler=-
	node=$(readlink -f "/sys/class/block/${device##*/}")
	[ -e "$node/queue" ] || node=${node%/*}
	[ ! -r "$node/queue/scheduler" ] || {
		read -r all <"$node/queue/scheduler"
		scheduler=$all
		case $all in *\[*) scheduler=${all#*\[} scheduler=${scheduler%%]*} ;; esac
	}
	echo "@place ${device:--} $type ${scheduler:--} ${free:-0}"
} 2>/dev/null
