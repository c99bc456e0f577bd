#!/usr/bin/env bash
# Ranks share the profiles of periods and of reports, and the tables of issuers: same bytes as one process, written once.
. tests/support/tap.sh
cmd=$(realpath "$BUILD/blkcast")
ready() { have mpirun && [ -e "$BUILD/libblkcast-mpi.so" ]; }
need mpi "mpirun or libblkcast-mpi.so is missing" ready
export SOURCE_DATE_EPOCH=1789000000

ranks() {
	local nr=$1
	shift
	mpirun -q --allow-run-as-root --oversubscribe -n "$nr" "$@" </dev/null
}
for i in 1 2 3; do "$BUILD/tests/system/make_trace" "$T/$i.seg" 6 900 $i plain "host$i"; done
traces=("$T/1.seg" "$T/2.seg" "$T/3.seg")

# same NUMBERS LEAST NAME ARGUMENT...: one process and each of these numbers of processes print the same, at least LEAST
# bytes, say the same on standard error, and write the same $T/page.html
same() {
	local numbers=$1 least=$2 name=$3 nr
	shift 3
	rm -f "$T/page.html"
	exits 0 "$name: one process" "$cmd" "$@" -q
	cat "$T/out" >"$T/alone"
	cat "$T/err" >"$T/alone.err"
	cat "$T/page.html" >"$T/page.alone" 2>/dev/null || true
	number "$(cat "$T/alone" "$T/page.alone" | wc -c) >= $least" "$name: it answers"
	for nr in $numbers; do
		rm -f "$T/page.html"
		exits 0 "$name: $nr processes" ranks "$nr" "$cmd" "$@" -q
		holds "$name: $nr processes print the same, once" cmp "$T/alone" "$T/out"
		holds "$name: and say the same" cmp "$T/alone.err" "$T/err"
		cat "$T/page.html" >"$T/page.ranks" 2>/dev/null || true
		holds "$name: and write the same page" cmp "$T/page.alone" "$T/page.ranks"
	done
}
same "2 4" 1000 "periods" characterize --window 1s "${traces[@]}"
same "2 3" 100000 "periods as JSON" characterize --window 300ms --idle --json "${traces[@]}"
same 2 1000 "periods of one device" characterize --window 100ms --json "$T/1.seg"
same "2 4" 200 "issuers" characterize --who "${traces[@]}"
same 2 200 "issuers as JSON" characterize --who --json "${traces[@]}"
same "2 4" 100000 "a page of six devices" report "${traces[@]}" -o "$T/page.html"
same 2 100000 "a page of one device" report "$T/1.seg" -o "$T/page.html"
same 2 1000 "the data of a picture" report "${traces[@]}" --figure throughput --csv
same "2 4" 10000 "a page of the fleet" report --together "${traces[@]}" -o "$T/page.html"
same 2 100 "a table of the fleet" report --together --csv --figure hosts "${traces[@]}"

# A store with names of processes, of which retention then leaves a part as profiles.
"$BUILD/tests/system/sample_store" "$T/store"
same 2 500 "issuers of a store" characterize --who --json --store "$T/store"
"$cmd" retain --store "$T/store" --retain-requests-size 40k --retain-window 2s >"$T/kept" 2>&1 || cat "$T/kept"
same 3 1000 "periods of which profiles are left" characterize --window 2s --json --store "$T/store"
same 2 10000 "a page of what is left" report --store "$T/store" -o "$T/page.html"
same 2 10000 "a fleet of what is left" report --together --store "$T/store" -o "$T/page.html"

# What is damaged is said once, and the rest is there.
find "$T/store/segments" -name '*.seg' | sort | tail -n 1 | xargs truncate -s 40
for ask in "characterize --window 2s" "characterize --who" "report --together"; do
	# shellcheck disable=SC2086
	exits 1 "one process, $ask of a damaged store" "$cmd" $ask --store "$T/store" -q
	cat "$T/out" >"$T/alone"
	cat "$T/err" >"$T/alone.err"
	# shellcheck disable=SC2086
	exits 1 "ranks, $ask of a damaged store" ranks 3 "$cmd" $ask --store "$T/store" -q
	holds "have the rest" cmp "$T/alone" "$T/out"
	holds "and say once what is damaged" cmp "$T/alone.err" "$T/err"
done

# Large requests of many hosts use up what one process shares among the tables of all devices.
for i in 1 2 3 4 5 6 7 8 9; do
	awk -v i=$i 'BEGIN { for (k = 0; k < 60; k++) printf "%d,%.0f,1048576,R\n", k * 1000, (k * 97 + i) * 1048576 }' >"$T/large.csv"
	"$cmd" import -q --store "$T/large" --host "large$i" --begin 2026-01-01T00:00:00Z \
		--map time=1:us,offset=2,size=3,op=4 "$T/large.csv" >"$T/out" 2>"$T/err" || cat "$T/err"
done
same 3 1000 "periods without room for all tables" characterize --window 20ms --json --store "$T/large"
same 2 10000 "a page without room for all tables" report --store "$T/large" -o "$T/page.html"
# A mistake is said once, with the status of one process.
exits 2 "a device that is not there" ranks 3 "$cmd" report --device nothing "${traces[@]}" -o "$T/none.html" -q
is "$(grep -c "^blkcast report" "$T/err")" 1 "is said once"
holds "without a page" test ! -e "$T/none.html"
exits 2 "a page that cannot be written" ranks 2 "$cmd" report "${traces[@]}" -o "$T/none/none.html" -q
is "$(grep -c "^blkcast report" "$T/err")" 1 "is said once"

# Each rank reads the same files; one that cannot, or that dies, ends the job.
printf '#!/bin/sh\ncd "%s/$OMPI_COMM_WORLD_RANK" && exec "%s" "$@"\n' "$T" "$cmd" >"$T/apart"
chmod +x "$T/apart"
mkdir "$T/0" "$T/1"
cp "$T/2.seg" "$T/0/a.seg"
for ask in "characterize --window 1s" "report --together" "report -o page.html"; do
	# shellcheck disable=SC2086
	exits 3 "a rank without the trace ends $ask" ranks 2 "$T/apart" $ask a.seg -q
	is "$(grep -c '^blkcast: rank 1 ended with status [0-9] before the others: .*a\.seg' "$T/err")" 1 "one line says which and why"
	is "$(cat "$T/out")" "" "nothing is printed"
done
holds "and nothing written" test ! -e "$T/0/page.html"

long=(characterize --window 2ms --json -q "${traces[@]}")
mine() { pgrep -f "^$cmd characterize --window 2ms --json" || true; }
# Every rank but the first prints into a memory file, which it makes after all ranks have met in MPI.
met() { [ "$(mine | sed 's:.*:/proc/&/fd/2:' | xargs -r readlink | grep -c memfd:blkcast-said)" = 2 ]; }
mpirun -q --allow-run-as-root --oversubscribe -n 3 "$cmd" "${long[@]}" >"$T/out" 2>"$T/err" </dev/null &
holds "three ranks meet" wait_until 60 met
kill -9 "$(mine | tail -n 1)"
status=0
wait_until 30 eval "! kill -0 $! 2>/dev/null" || { fail "mpirun ends" && kill -9 $!; }
wait $! || status=$?
number "$status != 0" "a job of which a rank was killed fails"
none() { [ -z "$(mine)" ]; }
holds "and ends the others" wait_until 20 none
done_testing
