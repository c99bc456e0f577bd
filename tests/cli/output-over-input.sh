#!/usr/bin/env bash
# No command writes its result over what it reads, or into the store that it reads.
. tests/support/tap.sh
b=$BUILD/blkcast
"$BUILD/tests/system/sample_store" "$T/store"
"$b" export --store "$T/store" --format segments --host db1 -o "$T/t.blkseg"
ln -s t.blkseg "$T/link"
"$b" characterize --json --device sdb "$T/t.blkseg" >"$T/profile.json" 2>/dev/null
printf 'x,y_s\n1,2\n2,3\n3,5\n4,6\n5,8\n' >"$T/table.csv"
all() { (cd "$T" && find . -type f ! -name out ! -name err -print0 | sort -z | xargs -0 md5sum); }
before=$(all)

# refused NAME COMMAND...: exit 2 with the reason, and everything is as before
refused() {
	local name=$1
	shift
	exits 2 "$name: exit 2" "$b" "$@"
	like "$(cat "$T/err")" "expected a file apart from what is read: $T/" "$name: the reason"
	is "$(all)" "$before" "$name: nothing is written"
}
for format in csv parquet blkparse fio-iolog segments; do
	refused "export to $format over its file" export --format $format "$T/t.blkseg" -o "$T/t.blkseg"
done
refused "export over its file by a link" export --format csv "$T/t.blkseg" -o "$T/link"
refused "export of a link over its file" export --format csv "$T/link" -o "$T/t.blkseg"
refused "export over the store's catalog" export --format csv --store "$T/store" -o "$T/store/catalog.sqlite"
refused "export into the store" export --format csv --store "$T/store" -o "$T/store/segments/new.csv"
refused "redact over its file" redact "$T/t.blkseg" "$T/t.blkseg"
refused "redact into the store" redact "$T/store" "$T/store/redacted"
refused "a report over its file" report "$T/t.blkseg" -o "$T/t.blkseg"
refused "a report over the store's catalog" report --store "$T/store" -o "$T/store/catalog.sqlite"
refused "a page over the profile" compare "$T/profile.json" "$T/profile.json" --report "$T/profile.json"
refused "a job over the profile" mimic "$T/profile.json" --target /dev/null -o "$T/profile.json"
refused "a model over its table" fit "$T/table.csv" --response y_s -o "$T/table.csv"
refused "a log over the table" fit "$T/table.csv" --response y_s -o "$T/new" --s3 splits=4 --s3-log "$T/table.csv"
refused "a model's page over the model" predict "$T/profile.json" --report "$T/profile.json"
cp "$T/table.csv" "$T/results.sqlite"
before=$(all)
for command in "fit --response y_s -o" "storage calibrate -o" "qpn calibrate -o" "measure --export"; do
	# shellcheck disable=SC2086
	refused "$command over the measurement store" $command "$T/results.sqlite" --db "$T/results.sqlite"
done
exits 0 "a file beside the store is none in it: exit 0" "$b" export --quiet --format csv --store "$T/store" -o "$T/store.csv"
done_testing
