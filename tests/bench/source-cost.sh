#!/usr/bin/env bash
# What a request costs under each source, in instructions of an emulated machine: the block trace of
# which the kernels that are locked down know nothing, too. Needs QEMU and no root.
. tests/support/tap.sh
need vm "QEMU is not installed: make test-vm installs it" have qemu-system-x86_64 cpio depmod
need vm "the kernel 6.1 for amd64 cannot be fetched" scripts/debs.sh amd64 linux-image-6.1 busybox-static
figure() { printf 'figure\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5"; }
scripts/vm.sh --arch amd64 --clock instructions --module loop --time 900 --add "$BUILD/blkcast-agent" \
	--run tests/vm/guest/source-cost.sh >"$T/out" 2>"$T/err" || { cat "$T/err" >&2 && exit 1; }
# median SOURCE COLUMN: a request
median() { awk -v s="$1" -v c="$2" '$1 == s { print $c / $2 }' "$T/out" | sort -g | sed -n 2p; }
none=$(median none 3)
figure "instructions of a read without an agent" "$(printf %.0f "$none")" "a request" "" "dd, loop device, 4 KiB, one at a time"
for source in bpf blktrace tracefs diskstats; do
	figure "all of the machine under $source" "$(awk "BEGIN { printf \"%.2f\", $(median $source 3) / $none }")" "of none" "" \
		"the agent's share that ran meanwhile included"
	figure "the agent under $source" "$(printf %.0f "$(median $source 4)")" "instructions a request" "" "4096 requests in 1.3 s"
done
