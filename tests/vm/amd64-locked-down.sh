#!/usr/bin/env bash
# lockdown=confidentiality refuses every tracer: auto chooses the kernel's counters.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.1
vm_trace locked debugfs,tracefs - "auto=auto" --append lockdown=confidentiality
vm_auto locked diskstats
vm_refuses locked bpf .
vm_refuses locked blktrace 'locked down'
vm_refuses locked tracefs .
vm_rates locked auto
done_testing
