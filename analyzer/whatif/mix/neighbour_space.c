// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/mix/neighbour_space.h"

#include <math.h>
#include <string.h>

static void fill_levels(struct neighbour_space *s)
{
	static const double sizes[] = { 4096, 8192, 16384, 32768, 65536, 131072 };
	static const double reads[] = { 0, 0.25, 0.5, 0.75, 1 };

	if (!s->nr_sizes) {
		memcpy(s->sizes, sizes, sizeof(sizes));
		s->nr_sizes = sizeof(sizes) / sizeof(*sizes);
	}
	if (!s->nr_reads) {
		memcpy(s->reads, reads, sizeof(reads));
		s->nr_reads = sizeof(reads) / sizeof(*reads);
	}
}

static struct load_facts neighbour_space_vary(const struct load_facts *neighbour, double size,
					      double read)
{
	struct load_facts f = *neighbour;

	f.size_bytes = size;
	f.read_ratio = read;
	load_facts_set_size(&f, 0, size);
	load_facts_set_size(&f, 1, size);
	/* Both directions get the same pattern if the profile has only one direction. */
	for (int side = 0; side < 2; side++)
		if (isnan(f.side_sequential[side]))
			f.side_sequential[side] = f.sequential_ratio;
	return f;
}

/* Asks the models of the load's times for all directions, whatever directions the neighbour has. */
static int ask_beside(struct predictor *p, const struct load_facts *neighbour,
		      const struct load_facts *load, struct predicted *out, const char **outside,
		      struct err *err)
{
	const struct predictor_ask ask = { .point = "",
					   .sides = { load->read_ratio > 0, load->read_ratio < 1 },
					   .any = true };

	return predictor_ask(p, &ask, neighbour, 1, out, outside, err);
}

static void take_worst(struct neighbour_space *s, size_t i, size_t k)
{
	for (int side = 0; side < 2; side++) {
		double v = s->at[i][k].s[side];

		if (isnan(v) || v <= s->worst[side]) /* The first value replaces NaN. */
			continue;
		s->worst[side] = v;
		s->worst_size[side] = i;
		s->worst_read[side] = k;
	}
}

/* Response times mean nothing if the target gives the load fewer requests than it offers. */
static void take_carried(struct neighbour_space *s, const struct load_facts *load,
			 const struct predicted *p)
{
	enum load_carried c = load_facts_carried(load, p->rate_per_s, p->rate_high_per_s);

	if (c == LOAD_CARRIED || p->rate_per_s >= s->least_per_s)
		return;
	s->carried = c;
	s->least_per_s = p->rate_per_s;
}

int neighbour_space_solve(struct neighbour_space *s, struct predictor *p,
			  const struct load_facts *load, const struct load_facts *neighbour,
			  struct err *err)
{
	const struct predictor_ask ask = { .point = "", .sides = { true, true } };
	const char *outside = NULL;
	int ret = 0;

	fill_levels(s);
	s->worst[0] = s->worst[1] = NAN;
	s->alone = PREDICTED_NONE;
	s->carried = LOAD_CARRIED;
	s->offered_per_s = s->least_per_s = load->rate_per_s;
	if (!s->beside)
		ret = predictor_ask(p, &ask, load, 1, &s->alone, &s->outside, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < s->nr_sizes; i++) {
		for (size_t k = 0; k < s->nr_reads && !ret; k++) {
			struct load_facts both[2] = {
				*load, neighbour_space_vary(neighbour, s->sizes[i], s->reads[k])
			};
			struct predicted out[2];

			ret = s->beside ? ask_beside(p, &both[1], load, out, &outside, err)
					: predictor_ask(p, &ask, both, 2, out, &outside, err);
			if (ret)
				break;
			s->at[i][k] = out[0];
			if (!s->beside)
				take_carried(s, load, &out[0]);
			s->outside = s->outside ? s->outside : outside;
			take_worst(s, i, k);
		}
		if (ret)
			return ret;
	}
	return 0;
}
