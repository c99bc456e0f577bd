// SPDX-License-Identifier: Apache-2.0
/*
 * This file writes a load in bursts as fio's log version 3 (fio 3.33, HOWTO): every request with
 * its time.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "analyzer/replay/mimic_bursts.h"
#include "analyzer/replay/mimic_walk.h"

enum { STREAM_ARRIVALS = 2, STREAM_KINDS }; /* random streams after those of the two directions */

struct writer {
	const struct mimic *m;
	struct mimic_walk side[2];
	struct mimic_arrivals arrivals;
	struct rng kinds;
	uint64_t nr, nr_writes;
	FILE *out, *flushes;
};

static void put_request(struct writer *w, uint64_t us)
{
	const struct mimic *m = w->m;
	int side = m->write_back || rng_uniform(&w->kinds) >= m->side[0].share;
	uint64_t offset;
	uint32_t bytes;

	mimic_walk_next(&w->side[side], m->side[side].percent_random, &offset, &bytes);
	w->nr++;
	w->nr_writes += side;
	/*
	 * fio does not accept a log of flushes alone: the first write is put into the log of
	 * flushes.
	 */
	fprintf(side && m->fsync && w->nr_writes == 1 ? w->flushes : w->out,
		"%" PRIu64 " %s %s %" PRIu64 " %" PRIu32 "\n", us, m->target,
		side ? "write" : "read", m->first_byte + offset, bytes);
	if (side && m->fsync && w->nr_writes % m->fsync == 0)
		fprintf(w->flushes, "%" PRIu64 " %s sync 0 0\n", us, m->target);
}

static void put_head(FILE *out, const struct mimic *m)
{
	fprintf(out, "fio version 3 iolog\n0 %s add\n0 %s open\n", m->target, m->target);
}

static void put_end(FILE *out, const struct mimic *m)
{
	fprintf(out, "%" PRIu64 " %s close\n", (uint64_t)(m->duration_s * 1e6), m->target);
}

static void put_all(struct writer *w)
{
	const struct mimic *m = w->m;
	struct mimic_arrivals first = w->arrivals;
	uint64_t nr = (uint64_t)lround(m->duration_s * mimic_bursts_rate(&m->bursts));
	double end = m->duration_s;

	/*
	 * The rate of drawn bursts varies so much that all times are scaled to the requested rate.
	 */
	for (uint64_t i = 0; i < nr; i++)
		end = mimic_arrivals_next(&first);
	put_head(w->out, m);
	if (m->fsync)
		put_head(w->flushes, m);
	for (uint64_t i = 0; i < nr; i++)
		put_request(w, (uint64_t)(mimic_arrivals_next(&w->arrivals) / end * m->duration_s *
					  1e6));
	put_end(w->out, m);
	if (m->fsync)
		put_end(w->flushes, m);
}

int mimic_log(const struct mimic *m, FILE *out, FILE *flushes, uint64_t *nr)
{
	struct writer w = { .m = m, .out = out, .flushes = flushes };
	struct rng arrivals;
	int ret = 0;

	for (int k = 0; k < 2 && !ret; k++)
		if (m->side[k].nr_split) {
			ret = mimic_walk_begin(&w.side[k], m, k, m->seed);
			w.side[k].exact = true;
		}
	if (!ret) {
		rng_stream(&arrivals, m->seed, STREAM_ARRIVALS);
		rng_stream(&w.kinds, m->seed, STREAM_KINDS);
		mimic_arrivals_begin(&w.arrivals, &m->bursts, arrivals);
		put_all(&w);
	}
	for (int k = 0; k < 2; k++)
		mimic_walk_release(&w.side[k]);
	*nr = w.nr;
	return ret ? ret : ferror(out) || (m->fsync && ferror(flushes)) ? -EIO : 0;
}

static int close_log(FILE *f, const char *path, int status, struct err *err)
{
	if (!f)
		return status;
	if (fclose(f) && !status)
		status = err_set(err, EIO, "%s: cannot be written in full", path);
	if (status)
		remove(path);
	return status;
}

int mimic_save_logs(const struct mimic *m, uint64_t *nr, struct err *err)
{
	char path[PATH_MAX];
	FILE *requests = fopen(m->log, "we"), *flushes = NULL;
	int ret = requests ? 0 : err_set(err, errno, "%s: %s", m->log, strerror(errno));

	if (snprintf(path, sizeof(path), "%s%s", m->log, MIMIC_FLUSHES) >= (int)sizeof(path))
		ret = err_set(err, ENAMETOOLONG, "%s: too long a path", m->log);
	if (!ret && m->fsync) {
		flushes = fopen(path, "we");
		ret = flushes ? 0 : err_set(err, errno, "%s: %s", path, strerror(errno));
	}
	if (!ret) {
		ret = mimic_log(m, requests, flushes, nr);
		if (ret)
			err_set(err, -ret, "%s: %s", m->log, strerror(-ret));
	}
	ret = close_log(requests, m->log, ret, err);
	return close_log(flushes, path, ret, err);
}
