#!/usr/bin/env bash
# Linux 6.1 on s390x, big-endian and without BTF: z/Linux of today.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
. tests/vm.sh
need_vm s390x 6.1
vm_trace s390x debugfs,tracefs - "auto=auto"
vm_auto s390x blktrace
vm_exact s390x auto
done_testing
