/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/config.h"
#include "formats/request.h"
#include "tests/support/tap.h"

static int parse(struct config *c, struct err *err, const char *const *args)
{
	char *argv[32] = { (char *)"blkcast-agent" };
	int argc = 1;

	for (; args[argc - 1]; argc++)
		argv[argc] = (char *)args[argc - 1];
	*err = (struct err){ 0 };
	return config_parse(c, argc, argv, err);
}
#define PARSE(c, err, ...) parse(c, err, (const char *const[]){ __VA_ARGS__, NULL })

static void flags_are_taken(void)
{
	struct config c;
	struct err err;

	ok_int(PARSE(&c, &err, "--device", "sda", "--device=sdb", "--window", "250ms", "--sink",
		     "stdout:", "--layer", "queue", "--spool-bytes", "64MiB", "--no-trace",
		     "--duration", "2m", "--leave-out-own", "--max-overhead", "2.5%"),
	       0);
	ok_eq(c.devices.nr, 2);
	ok_str(c.devices.items[1], "sdb");
	ok_eq(c.window_ns, 250000000);
	ok_eq(c.duration_ns, 120000000000);
	ok_eq(c.spool_bytes, 64 << 20);
	ok_int(c.layer, LAYER_QUEUE);
	ok(!c.has_trace && c.leave_out_own && !c.top);
	ok_near(c.max_overhead, 0.025, 1e-15);
	ok_str(c.source, "auto");
	ok(c.host && *c.host);
	config_release(&c);
}

static void top_takes_interval_and_count(void)
{
	struct config c;
	struct err err;

	ok_int(PARSE(&c, &err, "--top", "5", "3", "--device", "sda"), 0);
	ok(c.top);
	ok_eq(c.top_interval_ns, 5000000000);
	ok_eq(c.top_count, 3);
	ok_eq(c.devices.nr, 1);
	config_release(&c);
	ok_int(PARSE(&c, &err, "--top"), 0);
	ok(c.top && !c.top_interval_ns && !c.top_count);
	config_release(&c);
	ok_int(PARSE(&c, &err, "--top", "1", "x"), -EINVAL);
	ok_str(err.line, "--top: expected [INTERVAL [COUNT]], got 'x'");
	config_release(&c);
}

static void expect(const char *want, int code, const char *const *args)
{
	struct config c;
	struct err err;

	ok_int(parse(&c, &err, args), -code);
	ok_str(err.line, want);
	config_release(&c);
}
#define EXPECT(want, ...) expect(want, EINVAL, (const char *const[]){ __VA_ARGS__, NULL })

static void bad_flags_are_one_line(void)
{
	EXPECT("--widnow: unknown option: did you mean --window?", "--widnow", "1s");
	EXPECT("--qqqqqqqqqqqq: unknown option: --help lists them", "--qqqqqqqqqqqq");
	EXPECT("--device: expected a value behind it", "--device");
	EXPECT("--help: expected no value behind it", "--help=me");
	EXPECT("sda: expected an option: --help lists them", "sda");
	EXPECT("window: expected a time above 0 like 250ms, 1s or 5m, got '0'", "--window", "0");
	EXPECT("window: expected a time above 0 like 250ms, 1s or 5m, got '1 parsec'", "--window",
	       "1 parsec");
	EXPECT("window: expected 10ms to 1h, got '1us'", "--window", "1us");
	EXPECT("source: ebpf is not known, expected one of auto, bpf, blktrace, tracefs, diskstats",
	       "--source", "ebpf");
	EXPECT("layer: expected device or queue, got 'bio'", "--layer", "bio");
	EXPECT("spool-bytes: expected a size of at least 1MiB like 64MiB or 1GiB, got '1k'",
	       "--spool-bytes", "1k");
	EXPECT("host: expected 1 to 63 of A-Z a-z 0-9 . _ - and no leading dot, got '../x'",
	       "--host", "../x");
	EXPECT("host: expected 1 to 63 of A-Z a-z 0-9 . _ - and no leading dot, got '(none)'",
	       "--host", "(none)");
	EXPECT("--top and --sink stdout: both write to standard output: expected one of them",
	       "--top", "--sink", "stdout:");
}

/* A file of this text. */
static void write_file(char path[64], const char *text)
{
	int fd;

	snprintf(path, 64, "/tmp/blkcast-config.XXXXXX");
	fd = mkstemp(path);
	ok(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void file_and_flags_work_together(void)
{
	struct config c;
	struct err err;
	char path[64];

	write_file(path, "# what to trace\n"
			 "device: [sda, sdb]\n"
			 "sink:\n  - file:/srv/a\n  - http://collector:9741\n"
			 "window: 2s\nleave-out-own: true\ntrace: yes\n");
	ok_int(PARSE(&c, &err, "--window", "3s", "--config", path, "--device", "vda"), 0);
	ok_eq(c.devices.nr, 1);
	ok_str(c.devices.items[0], "vda");
	ok_eq(c.sinks.nr, 2);
	ok_str(c.sinks.items[1], "http://collector:9741");
	ok_eq(c.window_ns, 3000000000);
	ok(c.leave_out_own);
	config_release(&c);
	unlink(path);
	write_file(path, "");
	ok_int(PARSE(&c, &err, "--config", path), 0);
	config_release(&c);
	unlink(path);
}

static void check_file(const char *text, const char *want)
{
	struct config c;
	struct err err;
	char path[64];
	size_t len;

	write_file(path, text);
	ok_int(PARSE(&c, &err, "--config", path), -EINVAL);
	len = strlen(path);
	if (ok(!strncmp(err.line, path, len)))
		ok_str(err.line + len, want);
	config_release(&c);
	unlink(path);
}

static void bad_files_are_told_by_line(void)
{
	check_file(
		"window: 1s\nwidnow: 2s\n",
		":2: unknown key \"widnow\": expected one of device, sink, cgroup, fileset, source, layer, window, "
		"listen, spool, spool-bytes, hindsight, hindsight-p99, least-sample, spool-drop, host, "
		"anonymize, duration, segment-interval, "
		"trace, leave-out-own, max-overhead, see-files, seccomp, tls-ca, tls-cert, tls-key, "
		"token-file, proxy, insecure, verbose; did you mean \"window\"?");
	check_file("\n\nwindow: [1s]\n",
		   ":3: window: expected a time above 0 like 250ms, 1s or 5m, got a list of 1");
	check_file("window: never\n",
		   ":1: window: expected a time above 0 like 250ms, 1s or 5m, got 'never'");
	check_file("device: {a: b}\n",
		   ":1: device: expected a value or a list of values, got a mapping of 1");
	check_file("window: 1s\nwindow: 2s\n",
		   ":2: key \"window\" stands there twice, first in line 1");
	check_file("- a\n- b\n", ":1: expected a mapping of keys to values");
	check_file("device: [sda\nwindow: 1s\n",
		   ":2: not YAML: did not find expected ',' or ']', while parsing a flow sequence");
	check_file("trace: perhaps\n", ":1: trace: expected true or false, got 'perhaps'");
}

static void missing_file_is_told(void)
{
	expect("/nonexistent/agent.yaml: No such file or directory", ENOENT,
	       (const char *const[]){ "--config", "/nonexistent/agent.yaml", NULL });
}

static void quantities_are_read(void)
{
	uint64_t v = 0;

	ok_int(config_time("1.5s", &v), 0);
	ok_eq(v, 1500000000);
	ok_int(config_time("2", &v), 0);
	ok_eq(v, 2000000000);
	ok_int(config_time("-1s", &v), -EINVAL);
	ok_int(config_time("1e99s", &v), -EINVAL);
	ok_int(config_time("nan", &v), -EINVAL);
	ok_int(config_size("4k", &v), 0);
	ok_eq(v, 4096);
	ok_int(config_size("1.5GiB", &v), 0);
	ok_eq(v, 3ull << 29);
	ok_int(config_size("", &v), -EINVAL);
}

static const struct tap_test tests[] = {
	{ "flags are taken", flags_are_taken },
	{ "--top takes an interval and a count", top_takes_interval_and_count },
	{ "a bad flag is one line that says what was expected", bad_flags_are_one_line },
	{ "flags win over the file, and a list replaces the file's", file_and_flags_work_together },
	{ "a bad file is told by file and line", bad_files_are_told_by_line },
	{ "a missing file is told by its name", missing_file_is_told },
	{ "times and sizes are read with their units", quantities_are_read },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
