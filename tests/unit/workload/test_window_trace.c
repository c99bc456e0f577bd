/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window over a real trace, cloudphysics.vscsi, against answers computed independently and
 * against the literal versions.
 */
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_arrivals.h"
#include "tests/literal/slow_sequential.h"
#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/window.h"

#define SUBSET 4096

struct trace {
	struct request *r;
	uint64_t *arrival_ns;
	size_t nr;
};

/* Version 1: 32 bytes; length at 4, SCSI command at 12, sector at 16, microseconds at 24. */
static struct request decode(const char *record)
{
	uint64_t sector, time_us;
	uint32_t bytes;
	uint16_t command;
	struct request r;

	memcpy(&bytes, record + 4, sizeof(bytes));
	memcpy(&command, record + 12, sizeof(command));
	memcpy(&sector, record + 16, sizeof(sector));
	memcpy(&time_us, record + 24, sizeof(time_us));
	command = le16toh(command);
	r = slow_request(le64toh(time_us) * 1000, le64toh(sector));
	r.bytes = le32toh(bytes);
	r.operation = command == 0x28 || command == 0x88 ? OPERATION_READ : OPERATION_WRITE;
	r.dispatch_ns = r.completion_ns = r.arrival_ns;
	r.flags = REQUEST_NO_DISPATCH | REQUEST_NO_COMPLETION | REQUEST_NO_ISSUER;
	return r;
}

static struct trace read_trace(void)
{
	const char *dir = tap_data_dir();
	struct trace t = { 0 };
	char path[512], record[32];
	FILE *f = NULL;

	if (dir) {
		snprintf(path, sizeof(path), "%s/cloudphysics.vscsi", dir);
		f = fopen(path, "rb");
	}
	if (!f)
		tap_skip("data", "the real traces are not here");
	t.r = malloc(200000 * sizeof(*t.r));
	t.arrival_ns = malloc(200000 * sizeof(*t.arrival_ns));
	if (!t.r || !t.arrival_ns)
		abort();
	while (t.nr < 200000 && fread(record, sizeof(record), 1, f) == 1) {
		t.r[t.nr] = decode(record);
		t.arrival_ns[t.nr] = t.r[t.nr].arrival_ns;
		t.nr++;
	}
	fclose(f);
	return t;
}

/* Algorithm 1 over the requests of one operation, or of any. */
static double literal_ratio(const struct trace *t, int operation)
{
	static struct slow_range list[SUBSET];
	double sum = 0, nr_subsets = 0;
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++) {
		if (operation < 0 || t->r[i].operation == operation)
			list[nr++] =
				(struct slow_range){ t->r[i].sector,
						     t->r[i].sector + request_sectors(&t->r[i]) };
		if (nr == SUBSET || (nr && i + 1 == t->nr)) {
			sum += (double)slow_sequential_count(list, nr) / (double)nr;
			nr_subsets++;
			nr = 0;
		}
	}
	return sum / nr_subsets;
}

static void cloudphysics(void)
{
	static const struct window_config config = { .subset_requests = SUBSET };
	struct trace t = read_trace();
	uint64_t begin_ns = t.arrival_ns[0], end_ns = t.arrival_ns[t.nr - 1] + 1;
	struct window *w = NULL;
	struct profile p;

	profile_init(&p);
	if (!ok_int(window_new(&w, &config, begin_ns), 0))
		return;
	ok_int(window_add_many(w, t.r, t.nr), 0);
	ok_int(window_profile(w, end_ns, &p), 0);
	ok_eq(p.requests[OPERATION_READ] + p.requests[OPERATION_WRITE], 113872);
	ok_near((double)p.requests[OPERATION_READ] / 113872, 0.413, 5e-4);
	ok_near((double)(end_ns - begin_ns) / 1e9, 7200.1, 0.05);
	/* Four standard errors of HyperLogLog. */
	ok_ratio(p.locality.footprint_bytes, 269210.0 * 4096, 0.033);
	ok_near(p.read.sequential_ratio, literal_ratio(&t, OPERATION_READ), 1e-12);
	ok_near(p.write.sequential_ratio, literal_ratio(&t, OPERATION_WRITE), 1e-12);
	ok_near(p.all_sequential_ratio, literal_ratio(&t, -1), 1e-12);
	/* 58.1 % of the requests begin where one of the last 32 streams ended: so many at least. */
	ok(p.all_stream_ratio > 0.581);
	ok_ratio(p.open.interarrival_scv, slow_interarrival_scv(t.arrival_ns, t.nr), 1e-9);
	for (size_t i = 0; i < p.open.nr_idc; i++)
		ok_ratio(p.open.idc[i].idc,
			 slow_idc(t.arrival_ns, t.nr,
				  (uint64_t)(p.open.idc[i].window_s * 1e9 + 0.5), begin_ns, end_ns,
				  30),
			 1e-9);
	/* The source knows neither who submitted nor when it was done. */
	ok(isnan(p.closed.clients_mean) && isnan(p.closed.in_flight_mean));
	ok(isnan(p.closed.think_time_mean_s));
	ok_eq(p.read.response.stage[STAGE_TOTAL].nr, 0);
	tap_note(
		"sequential %.3f %.3f %.3f, stream %.3f, SCV %.1f, IDC %.1f %.1f %.1f %.1f, kind %d",
		p.read.sequential_ratio, p.write.sequential_ratio, p.all_sequential_ratio,
		p.all_stream_ratio, p.open.interarrival_scv, p.open.idc[0].idc, p.open.idc[1].idc,
		p.open.idc[2].idc, p.open.idc[3].idc, (int)p.locality.distribution.kind);
	profile_release(&p);
	window_free(w);
	free(t.r);
	free(t.arrival_ns);
}

static const struct tap_test tests[] = {
	{ "cloudphysics: the profile agrees with independent answers", cloudphysics },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
