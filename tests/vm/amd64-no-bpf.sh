#!/usr/bin/env bash
# bpf(2) refused and nothing mounted: auto chooses tracefs, on a mount of its own. The agent is its bundle.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.1
vm_bundle
vm_trace no_bpf - refuse_bpf "auto=auto diskstats=diskstats"
vm_auto no_bpf tracefs
vm_refuses no_bpf bpf 'not permitted'
vm_refuses no_bpf blktrace 'debugfs is not mounted'
vm_exact no_bpf auto
vm_rates no_bpf diskstats
vm_agree no_bpf auto diskstats
done_testing
