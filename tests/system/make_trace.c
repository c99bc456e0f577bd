/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_trace FILE SECONDS PER_SECOND DEVICES [plain|untimed|throttled|lossy|kept [HOST]]: a
 * made-up trace, always the same.
 *
 * Reads of skewed addresses all along, three bursts of large sequential writes from four streams, a
 * few slow outliers, some flushes. untimed: no response times; throttled: long waits before an idle
 * device; lossy: 123 requests lost to a full ring in each segment; kept: as many kept back on
 * purpose. Segments of one host, one after another in the file.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/segment/segment.h"

#define BEGIN_REAL_NS 1789000000000000000ull
#define BEGIN_NS      5000000000ull
#define MAX_DEVICES   9
#define STREAMS	      4
#define NS	      1e9

struct maker {
	uint64_t state; /* splitmix64 */
	double seconds, per_second;
	unsigned int nr_devices;
	bool untimed, throttled, lossy, kept;
	const char *host;
	struct ledger ledger;
	uint64_t streams[STREAMS]; /* next sector of each sequential writer */
	FILE *out;
	struct segment_writer *writer;
	struct segment_device devices[MAX_DEVICES];
	uint64_t sequence, begin_ns, end_ns; /* end: of the last completion */
};

static double uniform(struct maker *m)
{
	uint64_t z = m->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential(struct maker *m, double mean)
{
	return -mean * log(uniform(m));
}

static double lognormal(struct maker *m, double median, double sigma)
{
	double radius = sqrt(-2 * log(uniform(m)));

	return median * exp(sigma * radius * cos(2 * M_PI * uniform(m)));
}

static bool in_burst(const struct maker *m, double t)
{
	double phase = fmod(t, m->seconds / 3) / (m->seconds / 3);

	return phase > 0.4 && phase < 0.5;
}

static double rate(const struct maker *m, double t)
{
	double wave = 1 + 0.7 * sin(4 * M_PI * t / m->seconds);

	return m->per_second * (in_burst(m, t) ? 4 : wave);
}

static void place(struct maker *m, struct request *r, bool burst)
{
	double pick = uniform(m);

	if (r->operation == OPERATION_WRITE && burst) {
		uint64_t *at = &m->streams[(size_t)(uniform(m) * STREAMS)];

		r->bytes = pick < 0.8 ? 131072 : 65536;
		r->sector = *at;
		*at += r->bytes / SECTOR_BYTES;
		return;
	}
	r->bytes = pick < 0.55	 ? 4096
		   : pick < 0.7	 ? 8192
		   : pick < 0.85 ? 16384
		   : pick < 0.97 ? 65536
				 : 524288;
	r->sector = 8 * (uint64_t)(pow(uniform(m), 3) * 12000000);
}

static void take_time(struct maker *m, struct request *r, bool burst)
{
	double queue = exponential(m, burst ? 0.004 : 0.00003);
	double device = lognormal(m, r->operation == OPERATION_WRITE ? 0.0003 : 0.0008, 0.7);

	if (m->untimed) {
		r->flags |= REQUEST_NO_DISPATCH | REQUEST_NO_COMPLETION;
		r->dispatch_ns = r->completion_ns = r->arrival_ns;
		return;
	}
	device += r->bytes / 8e8;
	if (uniform(m) < 0.002)
		device += 0.05 + exponential(m, 0.08);
	if (m->throttled)
		queue += 0.01 + exponential(m, 0.02);
	r->dispatch_ns = r->arrival_ns + (uint64_t)(queue * NS);
	r->completion_ns = r->dispatch_ns + (uint64_t)(device * NS);
}

static struct request make(struct maker *m, double t)
{
	bool burst = in_burst(m, t);
	double kind = uniform(m);
	struct request r = { .arrival_ns = BEGIN_NS + (uint64_t)(t * NS), .source = SOURCE_BPF };

	r.device = device_make(8, 16 * (uint32_t)(uniform(m) * uniform(m) * m->nr_devices));
	r.tid = 100 + (uint32_t)(uniform(m) * 8);
	r.pid = 100;
	r.operation = kind < 0.01		   ? OPERATION_FLUSH
		      : kind < (burst ? 0.8 : 0.3) ? OPERATION_WRITE
						   : OPERATION_READ;
	if (r.operation != OPERATION_FLUSH)
		place(m, &r, burst);
	take_time(m, &r, burst);
	return r;
}

static struct clock_anchor anchor(uint64_t ns)
{
	return (struct clock_anchor){ .monotonic_ns = ns,
				      .boottime_ns = ns,
				      .realtime_ns = ns - BEGIN_NS + BEGIN_REAL_NS };
}

static int flush(struct maker *m)
{
	struct segment_header h = {
		.boot_id = "6f1d3c52-8f7e-4a31-9b06-3a5d1a0c7e11",
		.agent_version = "0.1.0",
		.epoch = BEGIN_REAL_NS,
		.sequence = m->sequence++,
		.source = SOURCE_BPF,
		.begin = anchor(m->begin_ns),
		.end = anchor(m->end_ns),
		.nr_captured = segment_writer_count(m->writer),
		.devices = m->devices,
		.nr_devices = m->nr_devices,
	};
	struct loss loss = { .cause = m->kept ? LOSS_KEPT_BACK : LOSS_RING_FULL,
			     .count_known = true,
			     .count = 123,
			     .begin_real_ns = h.begin.realtime_ns,
			     .end_real_ns = h.end.realtime_ns };
	struct buf b;
	int err = 0;

	snprintf(h.host, sizeof(h.host), "%s", m->host);
	buf_init(&b);
	ledger_clear(&m->ledger);
	if (m->lossy || m->kept) {
		h.ledger = &m->ledger;
		h.nr_captured += loss.count;
		err = ledger_add(&m->ledger, &loss);
	}
	if (!err)
		err = segment_writer_finish(m->writer, &h, &b);
	if (!err && fwrite(b.data, 1, b.len, m->out) != b.len)
		err = -EIO;
	buf_release(&b);
	m->begin_ns = m->end_ns;
	return err;
}

static int make_all(struct maker *m)
{
	double t = 0;
	int err = 0;

	while (!err) {
		struct request r;

		t += exponential(m, 1 / rate(m, t));
		if (t >= m->seconds)
			break;
		r = make(m, t);
		m->end_ns = r.completion_ns > m->end_ns ? r.completion_ns : m->end_ns;
		err = segment_writer_add(m->writer, &r);
		if (!err && segment_writer_count(m->writer) == SEGMENT_MAX_REQUESTS)
			err = flush(m);
	}
	return err ? err : flush(m);
}

int main(int argc, char **argv)
{
	struct maker m = { .state = 42, .begin_ns = BEGIN_NS };
	int err;

	if (argc < 5) {
		fprintf(stderr,
			"usage: make_trace FILE SECONDS PER_SECOND DEVICES [plain|untimed|throttled|lossy|kept [HOST]]\n");
		return 2;
	}
	m.seconds = strtod(argv[2], NULL);
	m.per_second = strtod(argv[3], NULL);
	m.nr_devices = (unsigned int)strtoul(argv[4], NULL, 10);
	m.untimed = argc > 5 && !strcmp(argv[5], "untimed");
	m.throttled = argc > 5 && !strcmp(argv[5], "throttled");
	m.lossy = argc > 5 && !strcmp(argv[5], "lossy");
	m.kept = argc > 5 && !strcmp(argv[5], "kept");
	m.host = argc > 6 ? argv[6] : "db1.example";
	if (!(m.seconds > 0) || !(m.per_second > 0) || !m.nr_devices || m.nr_devices > MAX_DEVICES)
		return 2;
	for (unsigned int i = 0; i < m.nr_devices; i++) {
		m.devices[i].device = device_make(8, 16 * i);
		m.devices[i].size_bytes = 200ull << 30;
		snprintf(m.devices[i].file_system, sizeof(m.devices[i].file_system), "%s",
			 i ? "" : "vfat,ext4");
		snprintf(m.devices[i].name, sizeof(m.devices[i].name), "sd%c", (int)('a' + i));
	}
	for (unsigned int i = 0; i < STREAMS; i++)
		m.streams[i] = 1000000 + i * 31000000ull;
	m.out = fopen(argv[1], "w");
	err = m.out ? segment_writer_new(&m.writer) : -errno;
	if (!err)
		err = make_all(&m);
	segment_writer_free(m.writer);
	ledger_release(&m.ledger);
	if (m.out && fclose(m.out))
		err = -EIO;
	if (err)
		fprintf(stderr, "make_trace: %s: %s\n", argv[1], strerror(-err));
	return err != 0;
}
