#!/usr/bin/env bash
# lockdown=integrity refuses the files of the block trace, and nothing (no securityfs) says so: auto
# finds it out and chooses tracefs.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.1
vm_trace integrity debugfs refuse_bpf "auto=auto" --append lockdown=integrity
vm_auto integrity tracefs
vm_refuses integrity blktrace 'locked down'
vm_exact integrity auto
done_testing
