#!/usr/bin/env bash
# The agent as one file in a guest that has nothing but busybox.
cd "$(dirname "$0")/../.." || exit 2
. tests/support/tap.sh
. tests/vm.sh
need static "the static agent is not built: make test-static builds it" test -x "$BUILD/static/blkcast-agent"
need_vm amd64 6.1
vm_static amd64-static bpf 41
done_testing
