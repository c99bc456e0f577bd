#!/usr/bin/env bash
# Segments are the same bytes on both byte orders, and each reads the other's; the unit tests of what
# they share pass on s390x. Run by the user-mode emulator.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
emulated=$BUILD/s390x/emulated
need vm "qemu-s390x-static is not installed: make test-vm installs it" command -v qemu-s390x-static
need vm "the tests are not built for s390x: make test-vm builds them" test -x "$emulated/tests/system/segment_golden"

native=$BUILD/tests/system/segment_golden other=$emulated/tests/system/segment_golden
for version in 1 2 4; do
	"$native" make ${version#1} >"$T/little"
	"$other" make ${version#1} >"$T/big"
	holds "a segment written on either byte order is the same, byte for byte" cmp "$T/little" "$T/big"
	for f in tests/golden/segment-v$version.bin "$T/little"; do
		exits 0 "s390x reads $(basename "$f"), version $version" "$other" dump "$f"
		holds "and finds what was written" cmp "$T/out" tests/golden/segment-v$version.jsonl
	done
done
# All other unit tests run on s390x by make test-s390x; the emulator is some twenty times slower.
for name in $(sed '/^#/d' tests/byte-order); do
	exits 0 "on s390x: $name" env -u BLKCAST_REQUIRE BLKCAST_EMULATED=1 BUILD="$emulated" TMPDIR="$T" \
		"$emulated/tests/unit/$name"
	if grep -q "^not ok" "$T/out"; then note "$(grep -A3 "^not ok" "$T/out" | head -n 4 | tr "\n" " ")"; fi
done
done_testing
