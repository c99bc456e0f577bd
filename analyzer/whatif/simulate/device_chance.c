// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/simulate/device_chance.h"

#include <math.h>

#define TURNS	      7
#define MOST_REQUESTS 2000000 /* of all simulations of a load */
/* Student's t with TURNS degrees of freedom at 0.95, times the square root of 2 for two runs. */
#define TWO_RUNS_T (1.8946 * 1.41421356237309505)

size_t device_chance_turns(size_t nr_requests)
{
	return nr_requests <= MOST_REQUESTS / (TURNS + 1) ? TURNS : 0;
}

/* Returns the standard deviation of the logarithms of a statistic over all simulations. */
static double chance_sd(const struct stored_result *first, const struct stored_result *more,
			size_t nr, enum device_type type, enum device_point point)
{
	double base = log(device_times_at(&first->times, type, point)), sum = 0, squares = 0;

	for (size_t i = 0; i < nr; i++) {
		double away = log(device_times_at(&more[i].times, type, point)) - base;

		sum += away;
		squares += away * away;
	}
	return sqrt(fmax(0, squares - sum * sum / (double)(nr + 1)) / (double)nr);
}

void device_chance_of(struct device_chance *c, const struct stored_result *first,
		      const struct stored_result *more, size_t nr)
{
	for (int t = 0; t < DEVICE_NR_TYPES; t++)
		for (int p = 0; p < DEVICE_NR_POINTS; p++) {
			enum device_type type = (enum device_type)t;
			enum device_point point = (enum device_point)p;
			double half = device_times_chance(&first->times, type, point), sd = 0;

			if (nr && device_times_at(&first->times, type, point) > 0)
				sd = chance_sd(first, more, nr, type, point);
			c->half[t][p] = sd > 0 ? fmax(half, TWO_RUNS_T * sd) : half;
		}
}
