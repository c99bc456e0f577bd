/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analyzer/report/curve/sizes.h"

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

static const char *const size_labels[SIZES_BINS] = { "512B", "1K",  "2K",  "4K",   "8K",
						     "16K",  "32K", "64K", "128K", "256K",
						     "512K", "1M",  ">1M" };

int sizes_draw(const struct profile *p, enum sizes_share share, const struct view *v,
	       struct buf *out)
{
	const char *of = share == SIZES_BYTES ? "bytes" : "requests";
	char title[64], text[200];
	struct sizes s;
	struct mirror m = { .labels = size_labels,
			    .range = s.requests, /* so that the two pictures share an axis */
			    .counts = share == SIZES_BYTES ? s.bytes : s.requests,
			    .of = of,
			    .title = title,
			    .text = text,
			    .x_name = "request size, up to" };

	sizes_of(p, &s);
	snprintf(title, sizeof(title), "Request sizes, share of %s", of);
	snprintf(text, sizeof(text),
		 "Bars by power of two of the request size, read upwards for reads and downwards "
		 "for writes; the largest bar is %.1f %% of all %s.",
		 mirror_most(&m) * 100, of);
	return mirror_draw(&m, v, out);
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
