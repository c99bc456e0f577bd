/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/keep/retain_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"

void retain_counts_text(const struct retain_counts *c, char out[RETAIN_LINE_BYTES])
{
	char before[UNITS_BYTES], after[UNITS_BYTES];
	int len;

	units_bytes((double)c->segment_bytes, before);
	units_bytes((double)c->summary_bytes, after);
	len = snprintf(out, RETAIN_LINE_BYTES,
		       "%" PRIu64 " requests of %" PRIu64 " segments summarized (%s), %s written",
		       c->nr_requests, c->nr_segments, before, after);
	if (c->nr_dropped)
		len += snprintf(out + len, RETAIN_LINE_BYTES - (size_t)len,
				"; profiles of %" PRIu64 " requests dropped", c->nr_dropped);
	if (c->nr_left_out)
		snprintf(out + len, RETAIN_LINE_BYTES - (size_t)len,
			 "; %" PRIu64 " segments left as they are: blkcast check says why",
			 c->nr_left_out);
}
