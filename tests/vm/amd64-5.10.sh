#!/usr/bin/env bash
# Linux 5.10, with BTF and the changes that its stable releases took from newer kernels.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 5.10
vm_trace amd64-5.10 debugfs,tracefs - "auto=auto blktrace=blktrace tracefs=tracefs diskstats=diskstats"
vm_auto amd64-5.10 bpf
like "$(tr '\n' ' ' <"$T/amd64-5.10/queue")" 'bpf: layer queue asks for Linux 5\.12.* exit 2 $' "bios are refused, with the reason"
vm_exact amd64-5.10 auto
vm_exact amd64-5.10 blktrace
vm_exact amd64-5.10 tracefs
vm_rates amd64-5.10 diskstats
vm_agree amd64-5.10 auto blktrace
vm_agree amd64-5.10 auto tracefs
vm_agree amd64-5.10 auto diskstats
done_testing
