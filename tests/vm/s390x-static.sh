#!/usr/bin/env bash
# The same on z/Linux, whose kernel at Debian has no BTF.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need static "the static agent is not built: make test-static builds it" \
	test -x "$BUILD/s390x/static/blkcast-agent"
need_vm s390x 6.1
vm_static s390x-static blktrace 37
done_testing
