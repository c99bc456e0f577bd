/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long outages: what a full spool drops is in the ledger to the request, order is kept across a
 * restart, and neither memory nor descriptors grow with the backlog. BLKCAST_ENDURANCE=1: 96 hours
 * at a segment every ten seconds, and 100 000 files; else a fortieth of it.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/spool/spool_ledger.h"
#include "formats/segment/segment.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define DISK	     device_make(8, 0)
#define STEP_NS	     10000000000ull
#define BYTES_A_FILE 128u

static uint64_t scale(uint64_t nr)
{
	return getenv("BLKCAST_ENDURANCE") ? nr : nr / 40;
}

struct outage {
	char dir[64], ledger[80];
	struct spool *spool;
	struct account *account;
	struct spool_ledger glue;
	uint64_t epoch, now_ns, seen, seen_here, sequence;
	uint32_t max_files;
};

static void start(struct outage *o)
{
	struct spool_config config = { .dir = o->dir, .max_files = o->max_files };
	struct account_config account = { .path = o->ledger, .boot_id = "b1" };

	spool_ledger_connect(&o->glue, &config);
	ok_int(spool_open(&o->spool, &config, NULL), 0);
	ok_int(account_open(&o->account, &account, NULL), 0);
	o->glue.account = o->account;
	o->glue.owns_account = true;
	o->epoch = account_next_epoch(o->account, o->now_ns);
	o->sequence = o->seen_here = 0;
	account_begin(o->account, o->epoch, o->now_ns, NULL, 0);
}

static void stop(struct outage *o)
{
	spool_close(o->spool);
	account_close(o->account);
}

/* Ten seconds go by: nr requests, one segment. */
static void go_on(struct outage *o, uint64_t nr)
{
	struct account_count seen = { DISK, o->seen_here + nr, o->seen_here + nr };
	struct account_count count = { DISK, nr, nr };
	struct sample sample = { .host = "h",
				 .boot_id = "b1",
				 .epoch = o->epoch,
				 .sequence = o->sequence,
				 .real_offset_ns = SAMPLE_REAL_NS,
				 .begin_ns = o->now_ns - SAMPLE_REAL_NS,
				 .end_ns = o->now_ns - SAMPLE_REAL_NS + STEP_NS };
	struct request requests[4];
	struct ledger carried;
	struct buf data;

	o->now_ns += STEP_NS;
	o->seen += nr;
	o->seen_here += nr;
	account_seen(o->account, o->now_ns, &seen, 1);
	ledger_init(&carried);
	buf_init(&data);
	account_take(o->account, o->sequence, &carried);
	sample.ledger = &carried;
	sample_requests(o->sequence, sample.begin_ns, sample.end_ns, requests, nr);
	for (uint64_t i = 0; i < nr; i++)
		requests[i].device = DISK;
	sample_segment(&sample, requests, nr, &data);
	account_prepare(o->account, o->sequence, &count, 1);
	if (!spool_append(o->spool, &(struct spool_name){ o->epoch, o->sequence }, data.data,
			  data.len, NULL))
		account_commit(o->account, o->sequence);
	o->sequence++;
	buf_release(&data);
	ledger_release(&carried);
}

struct received {
	uint64_t nr_segments, requests, dropped, nr_disorder;
	/* The oldest stays; what is lost lies between its end and the begin of the second. */
	uint64_t first_end_ns, second_begin_ns, dropped_begin_ns, dropped_end_ns;
};

static void receive(struct received *r, struct buf *data, struct spool_name *last,
		    const struct spool_name *name)
{
	const struct segment_header *h;
	struct segment_reader *reader;

	if (!ok_int(segment_reader_new(&reader, data->data, data->len, NULL), 0))
		return;
	h = segment_reader_header(reader);
	if (!r->nr_segments++)
		r->first_end_ns = h->end.realtime_ns;
	else if (r->nr_segments == 2)
		r->second_begin_ns = h->begin.realtime_ns;
	if (r->nr_segments > 1)
		r->nr_disorder += name->epoch < last->epoch ||
				  (name->epoch == last->epoch && name->sequence <= last->sequence);
	*last = *name;
	r->requests += segment_reader_count(reader);
	for (size_t i = 0; h->ledger && i < h->ledger->nr; i++) {
		const struct loss *l = &h->ledger->losses[i];

		r->dropped += l->cause == LOSS_SPOOL_FULL ? l->count : 0;
		if (l->cause != LOSS_SPOOL_FULL)
			continue;
		if (!r->dropped_begin_ns || l->begin_real_ns < r->dropped_begin_ns)
			r->dropped_begin_ns = l->begin_real_ns;
		if (l->end_real_ns > r->dropped_end_ns)
			r->dropped_end_ns = l->end_real_ns;
	}
	segment_reader_free(reader);
}

static void outage_of_four_days(void)
{
	uint64_t nr = scale(96 * 360);
	struct outage o = { .now_ns = SAMPLE_REAL_NS, .max_files = (uint32_t)(nr / 3) };
	struct received r = { 0 };
	struct spool_name name, last = { 0 };
	struct buf data;

	snprintf(o.dir, sizeof(o.dir), "%s", sample_folder());
	snprintf(o.ledger, sizeof(o.ledger), "%s/ledger", o.dir);
	start(&o);
	for (uint64_t i = 0; i < nr; i++) {
		go_on(&o, 1 + i % 4);
		if (i == nr / 2) {
			stop(&o);
			start(&o);
		}
	}
	ok_eq(spool_files(o.spool), o.max_files);
	/* The receiver is back; one more segment tells what was dropped last. */
	buf_init(&data);
	while (spool_files(o.spool)) {
		if (spool_files(o.spool) == 1 && o.seen && r.nr_segments + 1 == o.max_files)
			go_on(&o, 1);
		if (!ok_int(spool_peek(o.spool, &name, &data), 0))
			break;
		receive(&r, &data, &last, &name);
		spool_ack(o.spool);
	}
	buf_release(&data);
	ok_eq(r.nr_segments, o.max_files + 1);
	ok_eq(r.nr_disorder, 0);
	ok_eq(r.requests + r.dropped, o.seen);
	ok_eq(r.dropped_begin_ns, r.first_end_ns);
	ok_eq(r.dropped_end_ns, r.second_begin_ns);
	tap_note("%llu segments in %llu h, %llu received, %llu requests dropped of %llu",
		 (unsigned long long)nr, (unsigned long long)(nr / 360),
		 (unsigned long long)r.nr_segments, (unsigned long long)r.dropped,
		 (unsigned long long)o.seen);
	stop(&o);
	sample_remove(o.dir);
}

static uint64_t resident_bytes(void)
{
	unsigned long long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static unsigned int nr_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int nr = 0;

	while (d && readdir(d))
		nr++;
	if (d)
		closedir(d);
	return nr;
}

static void backlog_of_many_files(void)
{
	struct outage o = { .max_files = 200000 };
	uint64_t nr = scale(100000), before, after;
	unsigned int idle = nr_descriptors(), most = 0;
	struct spool_config config = { .max_files = o.max_files };
	struct spool_name name;
	struct buf data;
	uint64_t nr_out = 0, nr_disorder = 0;

	snprintf(o.dir, sizeof(o.dir), "%s", sample_folder());
	config.dir = o.dir;
	ok_int(spool_open(&o.spool, &config, NULL), 0);
	before = resident_bytes();
	for (uint64_t i = 0; i < nr; i++)
		if (spool_append(o.spool, &(struct spool_name){ 1, i }, "segment", 7, NULL))
			break;
	ok_eq(spool_files(o.spool), nr);
	spool_close(o.spool);
	ok_int(spool_open(&o.spool, &config, NULL), 0);
	after = resident_bytes();
	most = nr_descriptors();
	ok_eq(spool_files(o.spool), nr);
	ok(after < before + nr * BYTES_A_FILE + (4u << 20));
	ok(most <= idle + 8);
	buf_init(&data);
	while (!spool_peek(o.spool, &name, &data)) {
		nr_disorder += name.sequence != nr_out++;
		spool_ack(o.spool);
	}
	ok_eq(nr_out, nr);
	ok_eq(nr_disorder, 0);
	ok(resident_bytes() < before + nr * BYTES_A_FILE + (4u << 20));
	tap_note("%llu files: resident %lld KiB more, %u descriptors above idle",
		 (unsigned long long)nr, ((long long)after - (long long)before) / 1024,
		 most - idle);
	buf_release(&data);
	spool_close(o.spool);
	sample_remove(o.dir);
}

static const struct tap_test tests[] = {
	{ "an outage of four days with a restart in it is told to the request",
	  outage_of_four_days },
	{ "a backlog of many files costs no memory and no descriptors", backlog_of_many_files },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
