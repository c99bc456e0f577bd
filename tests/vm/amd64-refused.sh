#!/usr/bin/env bash
# Linux 6.1 where BPF is refused and nothing is mounted: auto falls back to tracefs; with the kernel
# locked down, that tracing is refused too, to counters alone.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
. tests/vm.sh
need_vm amd64 6.1
vm_trace refused - refuse_bpf "auto=auto"
vm_auto refused tracefs
vm_exact refused auto
vm_trace locked - refuse_bpf "auto=auto" --append lockdown=confidentiality
vm_auto locked diskstats
vm_rates locked auto
done_testing
