/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features: the programs and abilities that a machine may lack, and without which a test is
 * skipped.
 *
 * This is the only list. tests/support/tap.c includes it, tests/support/tap.sh and
 * scripts/run-tests.sh read its lines, and each of them refuses a kind that is not here. A test
 * that lacks a kind which BLKCAST_REQUIRE names (a list with commas) fails instead of being
 * skipped. One kind stands on each line.
 */
FEATURE(awk, "awk")
FEATURE(blkparse, "blkparse, of Debian's package blktrace")
FEATURE(bpf, "root, and a kernel that loads BPF programs")
FEATURE(bpftool, "bpftool, of Debian's package bpftool")
FEATURE(browser, "chromium, or the browser that BLKCAST_BROWSER names")
FEATURE(certificates, "openssl, which makes and reads certificates")
FEATURE(cgroup, "a mounted hierarchy of control groups in which groups can be made")
FEATURE(cluster, "root, PostgreSQL, Ceph's radosgw and setpriv")
FEATURE(curl, "curl")
FEATURE(data, "the real traces: BLKCAST_DATA, or ../shared/data")
FEATURE(direct, "a TMPDIR whose files can be opened past the page cache")
FEATURE(exporter, "prometheus-node-exporter")
FEATURE(faketime, "the library of Debian's package libfaketime")
FEATURE(fio, "fio")
FEATURE(format, "clang-format 14")
FEATURE(graphviz, "dot, of Debian's package graphviz")
FEATURE(jq, "jq")
FEATURE(locales, "localedef and the sources of locales, of Debian's package locales")
FEATURE(loop, "root, loop devices and file systems on them")
FEATURE(mpi,
	"mpirun, of Debian's package openmpi-bin, and libblkcast-mpi.so, which libopenmpi-dev needs")
FEATURE(native, "a program that no emulator runs")
FEATURE(parquet, "node, npm, and the packages of tests/parquet/package-lock.json")
FEATURE(playwright, "node, npm, and the packages of tests/browser/package-lock.json")
FEATURE(promtool, "promtool, of Debian's package prometheus")
FEATURE(python3, "python3")
FEATURE(root, "root")
FEATURE(schema, "python3 with jsonschema and yaml")
FEATURE(seccomp, "a kernel that filters system calls")
FEATURE(setpriv, "setpriv, of Debian's package util-linux")
FEATURE(sqlite3, "the command sqlite3")
FEATURE(ssh, "root, ssh and sshd")
FEATURE(static, "the agent as one file, which make static builds")
FEATURE(strace, "strace, and the permission to trace processes")
FEATURE(timens, "root, and a kernel with time namespaces")
FEATURE(tracefs, "root, and the kernel's block tracepoints")
FEATURE(tree, "the top of the source tree as the current folder")
FEATURE(unsanitized, "a build without sanitizers")
FEATURE(vm, "QEMU and kernels for guests, and the programs for s390x: make test-vm makes them")
FEATURE(wbt, "a kernel that throttles write-back (CONFIG_BLK_WBT_MQ)")
FEATURE(zstd, "the command zstd")
