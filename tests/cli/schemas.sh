#!/usr/bin/env bash
# Each docs/NAME.schema.json is, byte for byte, what the table of the reader of NAME files says.
cd "$(dirname "$0")/../.." || exit 1
. tests/support/tap.sh
names=$("$BUILD/scripts/write_schema")
is "$(printf 'docs/%s.schema.json\n' $names | sort)" "$(ls docs/*.schema.json)" "every schema in docs/ has a table, and every table a schema"
for name in $names; do
	"$BUILD/scripts/write_schema" "$name" >"$T/$name"
	holds "docs/$name.schema.json is what make schemas writes" cmp "$T/$name" "docs/$name.schema.json"
done
exits 2 "a schema of another name is refused" "$BUILD/scripts/write_schema" nothing
done_testing
