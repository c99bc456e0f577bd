# Runs $inner in the folder $d, in a process group of its own, as long as standard input is open: "go" ends
# `read x <$BLKCAST_GO` in it, "stop" sends SIGTERM to the group, and so does the end of the input.
cd "$d" || exit 1
export BLKCAST_GO=.go.$$
mkfifo $BLKCAST_GO || exit 1
echo $$ >.pid.$$
exec 3<&0
setsid sh -c "$inner" </dev/null 3<&- &
b=$!
{
	exec >/dev/null 2>&1
	while read -r x <&3; do
		case $x in
		go) echo >$BLKCAST_GO ;;
		stop) kill -TERM -$b ;;
		esac
	done
	kill -TERM -$b
	sleep 2
	kill -KILL -$b
} &
w=$!
wait $b
s=$?
kill -KILL -$b 2>/dev/null
kill $w 2>/dev/null
rm -f .pid.$$ $BLKCAST_GO
exit $s
