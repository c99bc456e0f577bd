// SPDX-License-Identifier: Apache-2.0
/* The decisions of mimic.c are written as options of fio (fio 3.33, HOWTO). */
#include <inttypes.h>
#include <math.h>

#include "analyzer/replay/mimic.h"

#define MAX_FILES  300
#define RATE_ERROR 0.01 /* a rate may be rounded by no more to a whole number */

static void put_split(const struct mimic_direction *d, struct buf *out)
{
	const char *between = "";

	for (size_t i = 0; i < d->nr_split; i++) {
		if (!d->split[i].percent)
			continue;
		buf_printf(out, "%s%" PRIu32 "/%u", between, d->split[i].bytes,
			   d->split[i].percent);
		between = ":";
	}
}

static void put_sizes(const struct mimic *m, struct buf *out)
{
	const struct mimic_direction *r = &m->side[0], *w = &m->side[1];

	/*
	 * The first list is for reads, the second for writes; a direction without requests may have
	 * any list.
	 */
	buf_printf(out, "bssplit=");
	put_split(r->nr_split ? r : w, out);
	buf_printf(out, ",");
	put_split(w->nr_split ? w : r, out);
	/* fio counts Zipf ranks and zones in units of the smaller size, but offsets in each
	 * direction's own unit. With the same unit for both, no offset lies beyond the end,
	 * where fio would stop. */
	buf_printf(out, "\nblockalign=%" PRIu64 ",%" PRIu64 "\n", mimic_grain(m), mimic_grain(m));
}

/*
 * Returns whether no direction has random requests: each client then reads its part of the range
 * from end to end.
 */
static bool in_order(const struct mimic *m)
{
	for (int k = 0; k < 2; k++)
		if (m->side[k].nr_split && m->side[k].percent_random)
			return false;
	return true;
}

static void put_zones(const struct mimic *m, struct buf *out)
{
	double ends[MIMIC_ZONES];
	uint64_t at = 0;

	mimic_zones(&m->distribution, ends);
	buf_printf(out, "random_distribution=zoned_abs");
	for (int i = 0; i < MIMIC_ZONES; i++) {
		uint64_t end = (uint64_t)(ends[i] * (double)m->range_bytes) / 4096 * 4096;

		end = end > at + 4096 ? end : at + 4096;
		end = i == MIMIC_ZONES - 1 && m->range_bytes > at ? m->range_bytes : end;
		buf_printf(out, ":%d/%" PRIu64, 100 / MIMIC_ZONES, end - at);
		at = end;
	}
	buf_printf(out, "\n");
}

/*
 * Writes the files by name, as many as fit into a line of a job. If clones of a job share files by
 * filename_format, fio 3.33 lets only the first clone do I/O. More files are replaced by larger
 * ones.
 */
static void put_files(const struct mimic *m, struct buf *out)
{
	uint64_t total = m->nr_files * m->file_bytes, bytes;
	uint32_t nr = m->nr_files < MAX_FILES ? m->nr_files : MAX_FILES;

	bytes = nr == m->nr_files ? m->file_bytes : total / nr / 4096 * 4096;
	buf_printf(out,
		   "directory=%s\nfilesize=%" PRIu64 "\nsize=%" PRIu64 "\nfilename=", m->target,
		   bytes, nr * bytes);
	for (uint32_t i = 0; i < nr; i++)
		buf_printf(out, "%smimic.%u", i ? ":" : "", i);
	buf_printf(out, "\noverwrite=1\n");
	if (nr > 1)
		buf_printf(out, "file_service_type=random\n");
}

static void put_places(const struct mimic *m, struct buf *out)
{
	uint64_t part = m->range_bytes / m->clients / 4096 * 4096;

	if (m->directory)
		put_files(m, out);
	else
		buf_printf(out, "filename=%s\n", m->target);
	if (in_order(m) && !m->open && !m->directory && part) {
		buf_printf(out,
			   "offset=%" PRIu64 "\nsize=%" PRIu64 "\noffset_increment=%" PRIu64 "\n",
			   m->first_byte, part, part);
		return;
	}
	if (!m->directory)
		buf_printf(out, "offset=%" PRIu64 "\nsize=%" PRIu64 "\n", m->first_byte,
			   m->range_bytes);
	buf_printf(out, "percentage_random=%u,%u\n", m->side[0].percent_random,
		   m->side[1].percent_random);
	if (!m->random_map)
		buf_printf(out, "norandommap=1\n");
	if (m->by_zones)
		put_zones(m, out);
	else if (m->distribution.kind == DISTRIBUTION_ZIPF && m->distribution.exponent > 0.01)
		/* If the distribution has a centre, all clients share the same busy offsets. */
		buf_printf(out, "random_distribution=zipf:%.4f:0.5\n",
			   fabs(m->distribution.exponent - 1) < 5e-4 ? 1.0005
								     : m->distribution.exponent);
}

/* Returns the value of rw= for the whole job; for open loads it is set per direction. */
static const char *mimic_job_kind(const struct mimic *m, bool reads, bool writes)
{
	bool order = in_order(m) && !m->open;

	if (reads && writes)
		return order ? "rw" : "randrw";
	if (reads)
		return order ? "read" : "randread";
	return order ? "write" : "randwrite";
}

/* fio mixes in whole percents: some clients get one percent more, so that the mean is right. */
static void put_closed(const struct mimic *m, struct buf *out)
{
	double percent = 100 * m->side[0].share, whole = floor(percent);
	unsigned int more = (unsigned int)lround((percent - whole) * m->clients);
	bool reads = m->side[0].nr_split, writes = m->side[1].nr_split;

	if (m->think_s > 0)
		buf_printf(out, "thinktime=%.0f\n", m->think_s * 1e6);
	buf_printf(out, "rw=%s\n", mimic_job_kind(m, reads, writes));
	if (m->write_back) {
		buf_printf(out, "numjobs=%u\n", m->clients);
		return;
	}
	if (m->clients > more)
		buf_printf(out, "\n[clients]\nnumjobs=%u\nrwmixread=%.0f\n", m->clients - more,
			   whole);
	if (more)
		buf_printf(out, "\n[more]\nnumjobs=%u\nrwmixread=%.0f\n", more, whole + 1);
}

bool mimic_whole_rate(double rate_per_s)
{
	return fabs(rate_per_s - round(rate_per_s)) <= RATE_ERROR * rate_per_s;
}

/* Writes a rate with a fraction as bytes per second, because fio's rate_iops takes whole
 * numbers, and Poisson arrivals need whole rates. */
static void put_slow_rate(const struct mimic *m, int side, unsigned int clients, struct buf *out)
{
	const struct mimic_direction *d = &m->side[side];
	double bytes = 0;

	for (size_t i = 0; i < d->nr_split; i++)
		bytes += d->split[i].percent / 100.0 * d->split[i].bytes;
	if (clients > d->rate_per_s)
		clients = d->rate_per_s < 1 ? 1 : (unsigned int)d->rate_per_s;
	buf_printf(out, "\n[%s]\nrw=%s\nnumjobs=%u\nrate_process=linear\nrate=%.0f\n",
		   side ? "writes" : "reads", mimic_job_kind(m, side == 0, side == 1), clients,
		   fmax(1, d->rate_per_s * bytes / clients));
}

/*
 * Writes the clients of one direction with whole rates; some clients have a rate that is higher by
 * one.
 */
static void put_rate(const struct mimic *m, int side, unsigned int clients, struct buf *out)
{
	static const char *const names[2] = { "reads", "writes" };
	unsigned long rate = (unsigned long)lround(m->side[side].rate_per_s), each, more;

	if (!mimic_whole_rate(m->side[side].rate_per_s)) {
		put_slow_rate(m, side, clients, out);
		return;
	}
	if (clients > rate)
		clients = (unsigned int)rate;
	each = rate / clients;
	more = rate % clients;
	buf_printf(out, "\n[%s]\nrw=%s\nnumjobs=%lu\nrate_iops=%lu\n", names[side],
		   mimic_job_kind(m, side == 0, side == 1), clients - more, each);
	if (more)
		buf_printf(out, "\n[%s_more]\nrw=%s\nnumjobs=%lu\nrate_iops=%lu\n", names[side],
			   mimic_job_kind(m, side == 0, side == 1), more, each + 1);
}

static void put_open(const struct mimic *m, struct buf *out)
{
	unsigned int reads = (unsigned int)lround(m->clients * m->side[0].share);

	if (m->side[0].nr_split && !reads)
		reads = 1;
	if (m->side[1].nr_split && reads == m->clients)
		reads--;
	buf_printf(out, "rate_process=%s\n", m->even ? "linear" : "poisson");
	if (m->side[0].nr_split)
		put_rate(m, 0, reads, out);
	if (m->side[1].nr_split)
		put_rate(m, 1, m->clients - reads, out);
}

/* Writes jobs whose requests are in logs; the options of clients do not apply to them. */
static void put_logs(const struct mimic *m, struct buf *out)
{
	buf_printf(out,
		   "\n[bursts]\nioengine=libaio\niodepth=%u\ndirect=1\nthread=1\nruntime=%.0fms\n"
		   "read_iolog=%s\n",
		   m->log_depth, m->duration_s * 1e3, m->log);
	if (m->forced)
		buf_printf(out, "sync=dsync\n");
	if (m->fsync)
		buf_printf(out,
			   "\n[flushes]\nioengine=psync\ndirect=1\nthread=1\nruntime=%.0fms\n"
			   "read_iolog=%s%s\n",
			   m->duration_s * 1e3, m->log, MIMIC_FLUSHES);
}

static void put_clients(const struct mimic *m, struct buf *out)
{
	buf_printf(out, "[%s]\nioengine=%s\n", m->write_back ? "readers" : "global",
		   m->depth > 1 ? "libaio" : "psync");
	if (m->depth > 1)
		buf_printf(out, "iodepth=%u\n", m->depth);
	buf_printf(out,
		   "direct=1\nthread=1\ntime_based=1\nruntime=%.0fms\nrandrepeat=1\n"
		   "randseed=%" PRIu64 "\ngroup_reporting=1\n",
		   m->duration_s * 1e3, m->seed);
	put_sizes(m, out);
	put_places(m, out);
	if (m->fsync)
		buf_printf(out, "fdatasync=%u\n", m->fsync);
	if (m->forced)
		buf_printf(out, "sync=dsync\n");
	if (m->open)
		put_open(m, out);
	else
		put_closed(m, out);
}

/*
 * If a load writes back, its clients only read. They do so in a job of their own beside the logs.
 */
static void put_readers(const struct mimic *m, struct buf *out)
{
	struct mimic reads = *m;

	reads.fsync = 0;
	reads.forced = false;
	reads.side[0].share = 1;
	reads.side[1].nr_split = 0;
	put_clients(&reads, out);
}

int mimic_job(const struct mimic *m, struct buf *out)
{
	if (m->write_back && m->side[0].nr_split)
		put_readers(m, out);
	else if (!m->bursty)
		put_clients(m, out);
	if (m->bursty)
		put_logs(m, out);
	return out->error;
}
