# Writes the memory in use, in KiB, once every $interval seconds while the load runs.
: >.memory # it is read also where the load ends before the first value
while :; do
	while read -r k v x; do
		case $k in
		MemTotal:) a=$v ;;
		MemAvailable:)
			echo $((a - v))
			break
			;;
		esac
	done </proc/meminfo
	sleep "$interval"
done >>.memory &
m=$!
