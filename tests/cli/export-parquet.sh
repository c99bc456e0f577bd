#!/usr/bin/env bash
# A trace as Parquet: two independent readers, DuckDB and hyparquet, find in it what `blkcast dump` prints.
. tests/support/tap.sh
b=$BUILD/blkcast
readers=$(cd "$BUILD" && pwd)/parquet
# npm ci refuses a lock without the bindings of other operating systems, which npm leaves out of it here.
install_readers() {
	command -v node && command -v npm || return 1
	mkdir -p "$readers"
	cmp -s tests/parquet/package-lock.json "$readers/node_modules/.lock" && return
	cp tests/parquet/package.json tests/parquet/package-lock.json "$readers/" &&
		timeout 120 npm install --prefix "$readers" --ignore-scripts --no-audit --no-fund &&
		cp tests/parquet/package-lock.json "$readers/node_modules/.lock"
}
need parquet "no node, or npm cannot install the readers of tests/parquet" install_readers
cp tests/parquet/read.mjs "$readers/"

# same NAME STORE [SELECTION...]
same() {
	local name=$1 store=$2
	shift 2
	exits 0 "$name: export" "$b" export --store "$store" "$@" --format parquet -o "$T/$name.parquet"
	"$b" dump --store "$store" "$@" --format csv >"$T/$name.csv" 2>/dev/null
	exits 0 "$name: both readers take the file" node "$readers/read.mjs" "$T/$name" "$T/$name.parquet"
	holds "$name: DuckDB reads every column as dump prints it" cmp "$T/$name.csv" "$T/$name.duckdb"
	holds "$name: and so does hyparquet" cmp "$T/$name.csv" "$T/$name.hyparquet"
}
"$BUILD/tests/system/sample_store" "$T/store"
same sample "$T/store"
is "$(tr '\n' ' ' <"$T/sample.types")" "arrival TIMESTAMP_NS host VARCHAR device VARCHAR device_name VARCHAR source VARCHAR operation VARCHAR sector BIGINT bytes BIGINT queue_ns BIGINT device_ns BIGINT total_ns BIGINT tid BIGINT pid BIGINT cgroup_id UBIGINT queue_depth BIGINT requeues BIGINT error BIGINT flags BIGINT " \
	"the columns have the documented types"
columns=$(sed -n 's/^| `\([a-z_]*\)` | \([A-Z0-9]*\).*/\1/p' docs/guide/fleet.md | tr '\n' ' ')
is "$columns" "$(cut -d ' ' -f 1 "$T/sample.types" | tr '\n' ' ')" "docs/guide/fleet.md describes each of them"
same part "$T/store" --host web1 --device sdb --operation write
# More than one group of rows, and what the trace does not tell is null.
awk 'BEGIN { print "time,offset,size,op"; for (i = 0; i < 150000; i++) print i / 1e4 "," i * 7919 % 99991 * 4096 ",4096," (i % 3 ? "R" : "W") }' >"$T/long.csv"
"$b" import --quiet --store "$T/long" --map time=1:s,offset=2:bytes,size=3,op=4 --host h --device sdc --begin 2026-01-01T00:00 --utc "$T/long.csv" >/dev/null
same long "$T/long"
is "$(wc -l <"$T/long.duckdb")" 150001 "every row of every group"
# Names that no text may have.
"$BUILD/tests/system/sample_store" "$T/hostile" hostile
exits 0 "names with hidden characters: export" "$b" export --store "$T/hostile" --format parquet -o "$T/hostile.parquet"
exits 0 "both readers take them" node "$readers/read.mjs" "$T/hostile" "$T/hostile.parquet"
is "$(wc -l <"$T/hostile.types")" 18 "with all columns"
done_testing
