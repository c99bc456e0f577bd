// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sample.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/traffic.h"

static void must(int pass, const char *what)
{
	if (pass)
		return;
	fprintf(stderr, "sample: %s: %s\n", what, strerror(errno));
	abort();
}

void sample_requests(uint64_t seed, uint64_t begin_ns, uint64_t end_ns, struct request *r,
		     size_t nr)
{
	struct traffic t = { seed };
	uint64_t step = nr ? (end_ns - begin_ns) / (nr + 1) : 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t n = traffic_random(&t);
		bool web = n >> 8 & 1;

		r[i] = (struct request){
			.arrival_ns = begin_ns + step * i + n % (step ? step : 1),
			.sector = (n >> 20) % (1u << 20) * 8,
			.cgroup_id = web ? 7 : 1,
			.bytes = 4096,
			.device = n >> 9 & 1 ? device_make(8, 16) : device_make(8, 0),
			.tid = web ? 101 : 201,
			.pid = web ? 100 : 200,
			.operation = n >> 10 & 1 ? OPERATION_WRITE : OPERATION_READ,
			.source = SOURCE_BPF,
			.flags = n % 16 == 0 ? REQUEST_OWN : 0,
		};
		r[i].dispatch_ns = r[i].arrival_ns + n % 1000;
		r[i].completion_ns = r[i].dispatch_ns + 1000 + (n >> 30) % 100000;
	}
}

/*
 * Names with escape sequences, line ends, DEL, bytes that are not UTF-8, bidirectional controls,
 * markup and quotes.
 */
static const struct segment_device hostile_devices[] = {
	{ 8u << 20, 1ull << 40, "\x1b[31m\x1b]0;t\a\r\n\x7f\xff\xe2\x80\xae\xc2\x9b<script>'\",=1",
	  "" },
	{ 8u << 20 | 16, 1ull << 41, "\xe2\x80\xae\x1b[2J</script><script>alert(1)</script>\"'&",
	  "" },
};
static const struct segment_process hostile_processes[] = {
	{ 100, "\x1b[31m\r\n\x7f\xff\"'" },
	{ 200, "<script>\xe2\x80\xae\x1b" },
};
static const struct segment_cgroup hostile_cgroups[] = {
	{ 1, "/\x1b]0;t\a\r\n\x7f\xff" },
	{ 7, "/<script>\xe2\x80\xae\"'/db" },
};

void sample_segment(const struct sample *s, const struct request *r, size_t nr, struct buf *out)
{
	static const struct segment_device devices[] = {
		{ 8u << 20, 1ull << 40, "sda", "" },
		{ 8u << 20 | 16, 1ull << 41, "sdb", "" },
	};
	static const struct segment_process processes[] = { { 100, "fio" }, { 200, "cat" } };
	static const struct segment_cgroup cgroups[] = { { 1, "/" }, { 7, "/web/db" } };
	struct segment_header h = {
		.epoch = s->epoch,
		.sequence = s->sequence,
		.source = s->source ? s->source : SOURCE_BPF,
		.begin = { s->begin_ns, s->begin_ns, s->begin_ns + s->real_offset_ns },
		.end = { s->end_ns, s->end_ns, s->end_ns + s->real_offset_ns },
		.nr_captured = s->nr_captured ? s->nr_captured : nr,
		.devices = s->is_hostile ? hostile_devices : devices,
		.nr_devices = 2,
		.processes = s->is_hostile ? hostile_processes : processes,
		.nr_processes = 2,
		.cgroups = s->is_hostile ? hostile_cgroups : cgroups,
		.nr_cgroups = 2,
		.ledger = s->ledger,
		.profiles = s->nr_profiles ? s->profiles : &s->profile,
		.nr_profiles = s->nr_profiles ? s->nr_profiles : s->profile != NULL,
	};
	struct segment_writer *w = NULL;

	snprintf(h.host, sizeof(h.host), "%s", s->host);
	snprintf(h.boot_id, sizeof(h.boot_id), "%s", s->boot_id);
	snprintf(h.agent_version, sizeof(h.agent_version), "test");
	must(segment_writer_new(&w) == 0, "segment_writer_new");
	for (size_t i = 0; i < nr; i++)
		must(segment_writer_add(w, &r[i]) == 0, "segment_writer_add");
	must(segment_writer_finish(w, &h, out) == 0, "segment_writer_finish");
	segment_writer_free(w);
}

void sample_numbered(uint64_t i, struct buf *out)
{
	struct sample s = { .host = "h",
			    .boot_id = "b",
			    .epoch = 1,
			    .sequence = i,
			    .begin_ns = i * 1000,
			    .end_ns = i * 1000 + 999 };
	struct request r[3];

	sample_requests(i, s.begin_ns, s.end_ns, r, 3);
	sample_segment(&s, r, 3, out);
}

void sample_write(const char *path, const void *data, size_t len)
{
	char folder[512];
	FILE *f;

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *at = strchr(folder + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		must(mkdir(folder, 0777) == 0 || errno == EEXIST, folder);
		*at = '/';
	}
	f = fopen(path, "w");
	must(f != NULL, path);
	must(fwrite(data, 1, len, f) == len, path);
	must(fclose(f) == 0, path);
}

void sample_store(const char *dir, const struct sample *s, const struct request *r, size_t nr)
{
	struct buf b = { 0 };
	char path[512];

	sample_segment(s, r, nr, &b);
	snprintf(path, sizeof(path), "%s/segments/%s/%s/%020llu/%010llu.seg", dir, s->host,
		 s->boot_id, (unsigned long long)s->epoch, (unsigned long long)s->sequence);
	sample_write(path, b.data, b.len);
	buf_release(&b);
}

const char *sample_folder(void)
{
	static char path[256];
	const char *base = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/blkcast-unit.XXXXXX", base ? base : "/tmp");
	must(mkdtemp(path) != NULL, path);
	return path;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

void sample_remove(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
