#!/usr/bin/env bash
# Linux 6.1 with BTF: every source there is, at once, sees the same load.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.1
vm_trace amd64 debugfs,tracefs - "auto=auto blktrace=blktrace tracefs=tracefs diskstats=diskstats"
vm_auto amd64 bpf
like "$(tail -n 1 "$T/amd64/queue")" '^exit 0$' "bios are traced too"
vm_exact amd64 auto
vm_exact amd64 blktrace
vm_exact amd64 tracefs
vm_rates amd64 diskstats
vm_agree amd64 auto blktrace
vm_agree amd64 auto tracefs
vm_agree amd64 auto diskstats
done_testing
