/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/report/sizes.h"

#define SMALLEST 512u

unsigned int sizes_bin(uint32_t bytes)
{
	unsigned int bin = 0;

	while (bin < SIZES_BINS - 1 && bytes > SMALLEST << bin)
		bin++;
	return bin;
}

static void sizes_count(const struct direction_profile *d, double *requests, double *bytes)
{
	for (size_t i = 0; i < d->nr_sizes; i++) {
		unsigned int bin = sizes_bin(d->sizes[i].bytes);

		requests[bin] += (double)d->sizes[i].count;
		bytes[bin] += (double)d->sizes[i].count * d->sizes[i].bytes;
	}
}

void sizes_of(const struct profile *p, struct sizes *out)
{
	*out = (struct sizes){ 0 };
	sizes_count(&p->read, out->requests[0], out->bytes[0]);
	sizes_count(&p->write, out->requests[1], out->bytes[1]);
}

static const char *bin_label(struct label *l, unsigned int bin)
{
	static const char *const names[SIZES_BINS] = { "512B", "1K",  "2K",  "4K",   "8K",
						       "16K",  "32K", "64K", "128K", "256K",
						       "512K", "1M",  ">1M" };

	snprintf(l->text, sizeof(l->text), "%s", names[bin]);
	return l->text;
}

struct mirror {
	double (*counts)[SIZES_BINS]; /* borrowed */
	double total, most;	      /* most: highest share of a bar */
	unsigned int low, high;
	const char *of; /* "requests" or "bytes" */
};

/* Finds the bins that either measure uses, so that the two pictures share an axis. */
static struct mirror mirror_of(double (*counts)[SIZES_BINS], double (*range)[SIZES_BINS],
			       const char *of)
{
	struct mirror m = { .counts = counts, .low = SIZES_BINS, .of = of };

	for (unsigned int b = 0; b < SIZES_BINS; b++) {
		m.total += counts[0][b] + counts[1][b];
		m.most = fmax(m.most, fmax(counts[0][b], counts[1][b]));
		if (range[0][b] + range[1][b] > 0) {
			m.low = b < m.low ? b : m.low;
			m.high = b;
		}
	}
	m.most = m.total > 0 ? m.most / m.total : 0;
	/* A single bar would be as wide as the picture. */
	m.low -= m.high - m.low < 4 && m.low ? 1 : 0;
	m.high += m.high - m.low < 4 && m.high < SIZES_BINS - 1 ? 1 : 0;
	return m;
}

static void sizes_bars(struct buf *out, const struct frame *f, const struct mirror *m,
		       double middle, double px_per_share)
{
	double wide = (f->right - f->left) / (m->high - m->low + 1), pad = fmin(wide * 0.14, 8);

	for (unsigned int b = m->low; b <= m->high; b++) {
		double x = f->left + (b - m->low) * wide;
		struct label l, share;
		char tip[160];

		for (int write = 0; write < 2; write++) {
			double ratio = m->total > 0 ? m->counts[write][b] / m->total : 0;
			double height = ratio * px_per_share;

			snprintf(tip, sizeof(tip), "%s up to %s: %s of %s",
				 write ? "writes" : "reads", bin_label(&l, b),
				 label_percent(&share, ratio), m->of);
			svg_rect(out, write ? "bar write" : "bar read", x + pad,
				 write ? middle : middle - height, wide - 2 * pad, height, tip);
		}
		svg_text(out, "tick mid", x + wide / 2, f->bottom + 17, bin_label(&l, b));
	}
}

static void share_axis(struct buf *out, const struct frame *f, double middle, const struct scale *y)
{
	struct tick ticks[SCALE_TICKS_MAX];
	size_t nr = scale_ticks(y, 3, ticks);

	for (size_t i = 0; i < nr; i++) {
		double up = middle - scale_px(y, ticks[i].value);

		svg_line(out, "grid", f->left, middle - up, f->right, middle - up);
		svg_text(out, "tick end", f->left - 6, middle - up + 4, ticks[i].label.text);
		if (!i)
			continue;
		svg_line(out, "grid", f->left, middle + up, f->right, middle + up);
		svg_text(out, "tick end", f->left - 6, middle + up + 4, ticks[i].label.text);
	}
}

static void sizes_one(struct buf *out, const struct mirror *m, const struct view *v)
{
	const struct legend_entry legend[] = { { LEGEND_BOX, "box read", "reads, up" },
					       { LEGEND_BOX, "box write", "writes, down" } };
	const struct frame *f = &frame_half;
	double middle = (f->top + f->bottom) / 2, half = middle - f->top;
	struct scale y = { .kind = SCALE_LINEAR, .unit = UNIT_RATIO, .to = fmax(m->most, 0.01) };
	char title[64], text[200], name[64];

	scale_round_up(&y);
	y.px_from = 0; /* scale_px() then measures heights */
	y.px_to = half;
	snprintf(title, sizeof(title), "Request sizes, share of %s", m->of);
	snprintf(text, sizeof(text),
		 "Bars by power of two of the request size, read upwards for reads and downwards "
		 "for writes; the largest bar is %.1f %% of all %s.",
		 m->most * 100, m->of);
	frame_begin(out, f, v, "figure half", title, text, NULL);
	svg_group(out, "axes");
	y.px_from = middle;
	y.px_to = middle - half;
	share_axis(out, f, middle, &y);
	snprintf(name, sizeof(name), "share of %s", m->of);
	svg_text(out, "name start", 4, f->top - 14, name);
	svg_text(out, "name mid", (f->left + f->right) / 2, f->bottom + 36, "request size, up to");
	svg_group_end(out);
	sizes_bars(out, f, m, middle, half / y.to);
	svg_line(out, "axis", f->left, middle, f->right, middle);
	frame_legend(out, f, legend, 2);
	svg_end(out);
}

int sizes_draw(const struct profile *p, enum sizes_share share, const struct view *v,
	       struct buf *out)
{
	struct sizes s;
	struct mirror m;

	sizes_of(p, &s);
	m = mirror_of(share == SIZES_BYTES ? s.bytes : s.requests, s.requests,
		      share == SIZES_BYTES ? "bytes" : "requests");
	if (m.total <= 0)
		return -ENODATA;
	sizes_one(out, &m, v);
	return out->error;
}

int sizes_csv(const struct profile *p, struct buf *out)
{
	struct sizes s;

	sizes_of(p, &s);
	buf_printf(out, "up_to_bytes,read_requests,write_requests,read_bytes,write_bytes\n");
	for (unsigned int b = 0; b < SIZES_BINS; b++) {
		if (s.requests[0][b] + s.requests[1][b] <= 0)
			continue;
		if (b < SIZES_BINS - 1)
			buf_printf(out, "%u", SMALLEST << b);
		else
			buf_printf(out, "larger");
		buf_printf(out, ",%.0f,%.0f,%.0f,%.0f\n", s.requests[0][b], s.requests[1][b],
			   s.bytes[0][b], s.bytes[1][b]);
	}
	return out->error;
}
