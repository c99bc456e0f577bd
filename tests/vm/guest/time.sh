# Runs in the guest: time.sh PORT: an agent streams to the analyzer at the host's PORT while each
# sector of /dev/vda is read once, in order; what happens to time meanwhile is told to the host on the
# console, which stops, restores and continues the machine. Leaves the number read in /out/read.
port=$1
. /vm/reads.sh
trace time

load 20
stage stop
load 150
stage stopped-over

date -s "@$(($(date +%s) + 3600))" >/dev/null
# Long enough that segments begin and end within the hour that is off.
for _ in 1 2 3; do
	load 10
	usleep 500000
done
date -s "@$(($(date +%s) - 3600))" >/dev/null
load 30

kill -STOP $agent
load 50
kill -CONT $agent
load 20

stage snapshot
load 400
stage end
usleep 1500000
finish
