/* SPDX-License-Identifier: Apache-2.0 */
/* top_times: the lines of the live view that show how the response times are distributed. */
#include <math.h>

#include "agent/show/top.h"

static const double time_quantiles[NR_TOP_QUANTILES] = { 0.50, 0.90, 0.95, 0.99, 0.999 };

int top_histogram_since(struct histogram *out, const struct histogram *now,
			const struct histogram *before)
{
	int ret = histogram_merge(out, now);

	if (ret || !before->nr)
		return ret;
	histogram_subtract(out, before);
	return 0;
}

int top_times_take(struct top_times *t, struct histogram *seen, const struct histogram *now)
{
	struct histogram since;
	int ret;

	*t = (struct top_times){ .nr = 0 };
	histogram_init(&since);
	ret = top_histogram_since(&since, now, seen);
	if (ret)
		goto out;
	t->nr = since.nr;
	for (int i = 0; i < NR_TOP_QUANTILES; i++)
		t->quantile_s[i] = histogram_quantile_s(&since, time_quantiles[i]);
	/* The exact maximum is that of the run; that of the interval is known to a bucket. */
	t->max_s = histogram_quantile_any_s(&since, 1 - 1e-15);
	histogram_clear(seen);
	ret = histogram_merge(seen, now);
out:
	histogram_release(&since);
	return ret;
}

void top_print_times_titles(struct buf *out)
{
	static const char *const titles[NR_TOP_QUANTILES] = { "p50", "p90", "p95", "p99", "p99.9" };

	buf_printf(out, "%-10s %-5s %7s", "Device", "", "per s");
	for (int i = 0; i < NR_TOP_QUANTILES; i++)
		buf_printf(out, " %8s", titles[i]);
	buf_printf(out, " %8s\n", "max");
}

void top_print_times_row(const char *name, int direction, const struct top_times *t,
			 double duration_s, struct buf *out)
{
	double per_s = (double)t->nr / duration_s;

	buf_printf(out, "%-10.10s %-5s %7.*f", name, direction == OPERATION_READ ? "read" : "write",
		   per_s < 100 ? 1 : 0, per_s);
	for (int i = 0; i < NR_TOP_QUANTILES; i++) {
		buf_printf(out, " ");
		top_print_time(t->quantile_s[i], out);
	}
	buf_printf(out, " ");
	top_print_time(t->max_s, out);
	buf_printf(out, "\n");
}
