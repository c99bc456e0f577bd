#!/usr/bin/env bash
# No call is missing from the filters of amd64, whatever the source.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm amd64 6.1
vm_calls amd64-calls bpf blktrace tracefs diskstats
done_testing
