// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "analyzer/models/solve/bounds.h"

/* This struct holds the demands of one chain. */
struct demands {
	double sum, most, delay; /* sum over queues; largest demand; sum over infinite servers */
	double fastest;		 /* largest rate of tokens that the slowest queue can serve */
	uint32_t nr;		 /* number of queues that the chain visits */
	bool single;		 /* all queues have one server */
};

static struct demands demands_of(const struct product_form *p, uint32_t chain)
{
	struct demands d = { .fastest = INFINITY, .single = true };

	for (uint32_t k = 0; k < p->nr_stations; k++) {
		double demand = p->demand[chain * p->nr_stations + k];

		if (!(demand > 0))
			continue;
		if (!p->servers[k]) {
			d.delay += demand;
			continue;
		}
		d.nr++;
		d.sum += demand;
		d.most = fmax(d.most, demand);
		d.fastest = fmin(d.fastest, p->servers[k] / demand);
		d.single &= p->servers[k] == 1;
	}
	return d;
}

static struct bound bounds_balanced(const struct demands *d, double n, double fastest)
{
	struct bound b;

	b.low = n / (d->sum + d->delay + (n - 1) * d->most / (1 + d->delay / (n * d->sum)));
	b.high = n / (d->sum + d->delay + (n - 1) * (d->sum / d->nr) / (1 + d->delay / d->sum));
	b.high = fmin(b.high, fastest);
	return b;
}

void bounds_make(struct chain_bounds *out, const struct product_form *p)
{
	for (uint32_t c = 0; c < p->nr_chains; c++) {
		struct demands d = demands_of(p, c);
		double n = (double)p->population[c];
		struct bound a = { .low = p->nr_chains == 1 ? n / (n * d.sum + d.delay) : NAN,
				   .high = fmin(d.fastest, n / (d.sum + d.delay)) };

		out[c] = (struct chain_bounds){ a, a };
		if (p->nr_chains == 1 && d.single && d.nr && n > 0)
			out[c].balanced = bounds_balanced(&d, n, d.fastest);
	}
}
