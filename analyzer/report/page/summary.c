/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/draw/label.h"
#include "analyzer/report/page/summary.h"

#define MIB 1048576.0

static double sum_s(const struct profile *p, enum stage stage)
{
	const struct histogram *r = &p->read.response.stage[stage];
	const struct histogram *w = &p->write.response.stage[stage];

	return (r->nr ? histogram_mean_s(r) * (double)r->nr : 0) +
	       (w->nr ? histogram_mean_s(w) * (double)w->nr : 0);
}

static uint64_t summary_timed(const struct profile *p, enum stage stage)
{
	return p->read.response.stage[stage].nr + p->write.response.stage[stage].nr;
}

double summary_queue_ratio(const struct profile *p)
{
	double queue = sum_s(p, STAGE_QUEUE), device = sum_s(p, STAGE_DEVICE);

	if (!summary_timed(p, STAGE_QUEUE) || !summary_timed(p, STAGE_DEVICE) ||
	    !(queue + device > 0))
		return NAN;
	return queue / (queue + device);
}

enum verdict summary_verdict(const struct profile *p, double in_device)
{
	double waiting = summary_queue_ratio(p);

	if (isnan(waiting))
		return VERDICT_UNKNOWN;
	if (waiting < 0.5)
		return VERDICT_DEVICE;
	return in_device < SUMMARY_BUSY ? VERDICT_LIMITED : VERDICT_QUEUED;
}

static const char *mix_words(double reads)
{
	if (reads >= 0.995)
		return "Reads only";
	if (reads >= 0.8)
		return "Mostly reads";
	if (reads > 0.55)
		return "More reads than writes";
	if (reads >= 0.45)
		return "Reads and writes alike";
	if (reads > 0.2)
		return "More writes than reads";
	return reads > 0.005 ? "Mostly writes" : "Writes only";
}

/* Returns the share of the most frequent size, and the size in *bytes. */
static double summary_commonest(const struct direction_profile *d, uint32_t *bytes)
{
	uint64_t best = 0, all = d->other_sizes;

	for (size_t i = 0; i < d->nr_sizes; i++) {
		all += d->sizes[i].count;
		if (d->sizes[i].count > best) {
			best = d->sizes[i].count;
			*bytes = d->sizes[i].bytes;
		}
	}
	return all ? (double)best / (double)all : 0;
}

static void direction_words(const struct direction_profile *d, const char *name, struct buf *out)
{
	struct label size, mean;
	uint32_t bytes = 0;
	double share = summary_commonest(d, &bytes);
	const char *pattern = isnan(d->sequential_ratio)   ? ""
			      : d->sequential_ratio >= 0.5 ? "sequential "
							   : "random ";

	if (share >= 0.5)
		buf_printf(out, "%s%s, mostly of %s", pattern, name,
			   label_bytes(&size, (double)bytes));
	else
		buf_printf(out, "%s%s of %s on average", pattern, name,
			   label_bytes(&mean, d->size_mean_bytes));
}

static void times_words(const struct response_times *r, const char *name, struct buf *out)
{
	const struct histogram *h = &r->stage[STAGE_TOTAL];
	struct label p50, p95, p99;
	double most = histogram_quantile_s(h, 0.95), tail = histogram_quantile_s(h, 0.99);

	buf_printf(out, "half of the %s are done within %s", name,
		   label_duration(&p50, histogram_quantile_any_s(h, 0.5)));
	if (!isnan(most))
		buf_printf(out, ", 95%s%% within %s", "\u202f", label_duration(&p95, most));
	if (!isnan(tail))
		buf_printf(out, ", 99%s%% within %s", "\u202f", label_duration(&p99, tail));
}

const char *summary_counted(const struct profile *p)
{
	bool others = false;

	for (int op = OPERATION_DISCARD; op < NR_OPERATIONS && !profile_is_undivided(p); op++)
		others = others || p->requests[op];
	return others ? "reads and writes" : "requests";
}

static void intensity_words(const struct profile *p, struct buf *out)
{
	double reads = (double)p->requests[OPERATION_READ];
	double writes = (double)p->requests[OPERATION_WRITE], seconds = profile_rate_s(p);
	double bytes = (double)profile_data_bytes(p);
	double ratio = reads + writes > 0 ? reads / (reads + writes) : 0;
	struct label rate, mib, share;

	buf_printf(out, "%s",
		   profile_is_undivided(p) ? "Requests that are not told to be reads or writes"
					   : mix_words(ratio));
	if (ratio > 0.005 && ratio < 0.995)
		buf_printf(out, " (%s %s)", label_percent(&share, fmax(ratio, 1 - ratio)),
			   ratio >= 0.5 ? "reads" : "writes");
	/* The time of one request is no time over which a rate could be taken. */
	if (!(seconds > 0) || reads + writes < 2) {
		buf_printf(out, ", %s request%s of %s in all, too short a time for a rate",
			   label_count(&rate, reads + writes), reads + writes > 1 ? "s" : "",
			   label_bytes(&mib, bytes));
		return;
	}
	buf_printf(out, ", %s %s and %s MiB per second on average",
		   label_count(&rate, (double)profile_data_requests(p) / seconds),
		   summary_counted(p), label_count(&mib, bytes / seconds / MIB));
}

void summary_workload(const struct profile *p, struct buf *out)
{
	bool reads = p->requests[OPERATION_READ] > 0, writes = p->requests[OPERATION_WRITE] > 0;
	bool read_times = p->read.response.stage[STAGE_TOTAL].nr > 0;
	bool write_times = p->write.response.stage[STAGE_TOTAL].nr > 0;

	intensity_words(p, out);
	if (profile_is_undivided(p)) {
		buf_printf(out, "; the pictures show all of them as reads.");
		return;
	}
	buf_printf(out, ": ");
	if (reads)
		direction_words(&p->read, "reads", out);
	if (reads && writes)
		buf_printf(out, "; ");
	if (writes)
		direction_words(&p->write, "writes", out);
	buf_printf(out, ". ");
	if (!read_times && !write_times) {
		buf_printf(out, "The trace does not tell how long requests took.");
		return;
	}
	buf_printf(out, "Of response times, ");
	if (read_times)
		times_words(&p->read.response, "reads", out);
	if (read_times && write_times)
		buf_printf(out, "; ");
	if (write_times)
		times_words(&p->write.response, "writes", out);
	if (p->flush.stage[STAGE_TOTAL].nr) {
		buf_printf(out, "; ");
		times_words(&p->flush, "flushes", out);
	}
	buf_printf(out, ".");
}

void summary_reason(const struct profile *p, double in_device, struct buf *out)
{
	struct label waiting, inside;
	double queue = summary_queue_ratio(p);

	label_percent(&waiting, queue);
	label_count(&inside, in_device);
	switch (summary_verdict(p, in_device)) {
	case VERDICT_DEVICE:
		buf_printf(
			out,
			"The time is the device's own: requests spend %s of it inside the device",
			label_percent(&inside, 1 - queue));
		buf_printf(out, " and %s waiting before it.", waiting.text);
		break;
	case VERDICT_QUEUED:
		buf_printf(out,
			   "What slows requests is queueing: they spend %s of their time waiting",
			   waiting.text);
		buf_printf(out, " for a device that holds %s others meanwhile.", inside.text);
		break;
	case VERDICT_LIMITED:
		buf_printf(out,
			   "What slows requests is not the device: they spend %s of their time",
			   waiting.text);
		buf_printf(out, " waiting, while it holds only %s others on average.", inside.text);
		buf_printf(out, " Look for an I/O limit or throttle.");
		break;
	case VERDICT_UNKNOWN:
		buf_printf(out, "Waiting and the device's own time cannot be told apart here.");
		break;
	}
}

void summary_quality(const struct profile *p, struct buf *out)
{
	size_t len = strlen(p->quality.why);
	struct label lost;

	if (p->quality.grade >= 'A' && p->quality.grade <= 'E')
		buf_printf(out, "Quality %c", p->quality.grade);
	else
		buf_printf(out, "Quality unknown");
	if (len)
		buf_printf(out, ": %s", p->quality.why);
	if (!len || p->quality.why[len - 1] != '.')
		buf_put_u8(out, '.');
	if (p->lost)
		buf_printf(out, " %s requests are known to be lost.",
			   label_count(&lost, (double)p->lost));
}
