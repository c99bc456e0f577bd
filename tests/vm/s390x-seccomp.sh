#!/usr/bin/env bash
# No call is missing from the filters of s390x, whose calls have numbers and names of their own.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need_vm s390x 6.1
vm_bundle
vm_calls s390x-calls blktrace tracefs diskstats
done_testing
