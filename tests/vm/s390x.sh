#!/usr/bin/env bash
# Linux 6.1 on s390x, big-endian and without BTF: z/Linux of today. The agent is the bundle that is
# deployed there.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm s390x 6.1
vm_bundle
vm_trace s390x debugfs,tracefs - "auto=auto tracefs=tracefs diskstats=diskstats"
vm_auto s390x blktrace
vm_exact s390x auto
vm_exact s390x tracefs
vm_rates s390x diskstats
vm_agree s390x auto tracefs
vm_agree s390x auto diskstats
done_testing
