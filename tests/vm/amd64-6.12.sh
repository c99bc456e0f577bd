#!/usr/bin/env bash
# Linux 6.12, with BTF: arguments and fields of newer kernels.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.12
vm_trace amd64-6.12 debugfs,tracefs - "auto=auto blktrace=blktrace tracefs=tracefs diskstats=diskstats"
vm_auto amd64-6.12 bpf
vm_exact amd64-6.12 auto
vm_exact amd64-6.12 blktrace
vm_exact amd64-6.12 tracefs
vm_rates amd64-6.12 diskstats
vm_agree amd64-6.12 auto blktrace
vm_agree amd64-6.12 auto tracefs
vm_agree amd64-6.12 auto diskstats
done_testing
