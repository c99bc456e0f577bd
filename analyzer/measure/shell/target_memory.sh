# Ends what target_watch.sh began, and prints "@memory MEAN MOST" in KiB.
kill $m 2>/dev/null
n=0 sum=0 most=0
while read -r x; do
	n=$((n + 1)) sum=$((sum + x))
	[ $x -le $most ] || most=$x
done <.memory
[ $n = 0 ] || echo "@memory $((sum / n)) $most"
