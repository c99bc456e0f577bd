// SPDX-License-Identifier: Apache-2.0
/* Flushes and forced writes of a mimic: fio can flush after every n writes, and can force all
 * writes or none. */
#include <math.h>

#include "analyzer/replay/mimic.h"

#define FLUSH_ERROR 0.05 /* the rate of flushes may differ by no more without a note */
/* If at least this share of the writes is forced, all are forced, else none. */
#define FORCED_MOST 0.5

void mimic_make_durable(struct mimic *m, const struct profile *p)
{
	double flushes = (double)p->requests[OPERATION_FLUSH];
	double writes = (double)p->requests[OPERATION_WRITE];
	double forced = (double)p->durability.forced_writes / writes;

	if (p->unknown & UNKNOWN_FLUSH)
		buf_printf(&m->notes, "the profile does not tell flushes: none are mimicked\n");
	if (flushes > 0 && !(writes > 0))
		buf_printf(&m->notes, "flushes without writes are not mimicked\n");
	if (!(writes > 0))
		return;
	if (flushes > 0)
		m->fsync = (unsigned int)fmax(1, fmin(1e6, round(writes / flushes)));
	if (m->fsync && fabs(flushes * m->fsync / writes - 1) > FLUSH_ERROR)
		buf_printf(
			&m->notes,
			"flushes: one for every %u writes; the profile has one for every %.3g, but fio "
			"counts whole writes\n",
			m->fsync, writes / flushes);
	if (p->unknown & UNKNOWN_DURABILITY) {
		if (m->fsync)
			buf_printf(&m->notes,
				   "the profile does not tell forced writes: none are mimicked\n");
		return;
	}
	m->forced = forced >= FORCED_MOST;
	if (p->durability.forced_writes && forced < 1)
		buf_printf(
			&m->notes,
			"forced writes (FUA): %.3g %% in the profile, %s in the job, because fio "
			"forces all writes or none\n",
			100 * forced, m->forced ? "all" : "none");
}
