# The keeper stays until its line ends, waits for the loads that are still at work, and removes the folder $d
# and the cgroup $c, if it made one.
echo @ready
while read -r x; do :; done
n=0
while [ $n -lt 40 ] && a= && for f in "$d"/.pid.*; do
	[ -e "$f" ] && kill -0 "${f##*.}" 2>/dev/null && a=1
done; [ "$a" ]; do
	sleep 0.1
	n=$((n + 1))
done
[ -z "$c" ] || rmdir "$c"
read -r p _ <"$d/.keeper" && [ "$p" = $$ ] && mv "$d" "$d.$$" && rm -rf "$d.$$"
