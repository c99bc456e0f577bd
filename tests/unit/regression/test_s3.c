/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/regression/choice/s3.h"
#include "tests/literal/s3_literal.h"
#include "tests/support/tap.h"

/* Wavy, with plateaus: many local optima and many ties. */
static double rough(const double *p)
{
	return floor(8 * (sin(p[0] / 7) + cos(3 * p[1]) + 0.01 * fabs(p[2] - 33))) / 8;
}

static double bowl(const double *p)
{
	return (p[0] - 123) * (p[0] - 123) / 1e4 + (p[1] - 0.3) * (p[1] - 0.3) +
	       fabs(p[2] - 77) / 100;
}

struct counted {
	double (*phi)(const double *p);
	size_t nr, batches;
};

static int evaluate(void *ctx, const double *points, size_t nr, double *cost)
{
	struct counted *c = ctx;

	for (size_t i = 0; i < nr; i++)
		cost[i] = c->phi(points + i * S3_AXES_MAX);
	c->nr += nr;
	c->batches++;
	return 0;
}

static struct s3_config config_of(struct counted *c, unsigned int nr_axes)
{
	return (struct s3_config){
		.splits = 4,
		.explorations = 5,
		.iterations = 10,
		.nr_axes = nr_axes,
		.axes = { { 3, 800, true }, { 0, 0.999, false }, { 2, 800, true } },
		.evaluate = evaluate,
		.ctx = c,
	};
}

static void against(double (*phi)(const double *p), struct s3_config *config, struct counted *c)
{
	struct s3_literal *e = malloc(sizeof(*e));
	struct s3_result r;
	size_t differ = 0;

	c->phi = phi;
	c->nr = c->batches = 0;
	ok(e && s3_literal(e, config, phi));
	ok_int(s3_run(&r, config), 0);
	ok_eq(r.nr, e->nr);
	for (size_t i = 0; i < r.nr && i < e->nr; i++)
		differ += memcmp(r.points[i].at, e->at[i], sizeof(e->at[i])) != 0 ||
			  r.points[i].cost != e->cost[i];
	ok_eq(differ, 0);
	ok_eq(r.best, s3_literal_best(e));
	ok_eq(c->nr, r.nr);
	ok(c->batches <= config->iterations + 1);
	ok(r.nr <= s3_bound(config));
	s3_release(&r);
	free(e);
}

static void literal(void)
{
	struct counted c = { 0 };

	for (unsigned int axes = 1; axes <= 3; axes++) {
		for (unsigned int eta = 1; eta <= 7; eta += 3) {
			for (unsigned int zeta = 0; zeta <= 4; zeta += 2) {
				struct s3_config config = config_of(&c, axes);

				config.splits = zeta;
				config.explorations = eta;
				config.iterations = 6;
				against(rough, &config, &c);
				against(bowl, &config, &c);
			}
		}
	}
}

static void bound(void)
{
	struct counted c = { 0 };
	struct s3_config config = config_of(&c, 3);

	ok_eq(s3_bound(&config), 1 + (216 - 1) + 9 * 5 * (216 - 8));
	config = config_of(&c, 1);
	ok_eq(s3_bound(&config), 1 + 5 + 9 * 5 * 4);
	config.nr_axes = 0;
	ok_eq(s3_bound(&config), 1);
}

static void finds(void)
{
	struct counted c = { .phi = bowl };
	struct s3_config config = config_of(&c, 3);
	struct s3_result r;

	ok_int(s3_run(&r, &config), 0);
	ok(r.points[r.best].cost < 1e-3);
	ok_near(r.points[r.best].at[0], 123, 3);
	ok_near(r.points[r.best].at[2], 77, 1);
	s3_release(&r);
}

static void stops(void)
{
	struct counted c = { .phi = bowl };
	struct s3_config config = config_of(&c, 3);
	struct s3_result r;

	config.improvement = 0.5;
	config.iterations = 50;
	ok_int(s3_run(&r, &config), 0);
	ok(r.iterations < 50);
	s3_release(&r);
	config.improvement = 0; /* whole numbers run out */
	config.nr_axes = 1;
	ok_int(s3_run(&r, &config), 0);
	ok(r.iterations < 50);
	ok_near(r.points[r.best].at[0], 123, 0);
	s3_release(&r);
}

static int failing(void *ctx, const double *points, size_t nr, double *cost)
{
	(void)ctx;
	(void)points;
	for (size_t i = 0; i < nr; i++)
		cost[i] = 1;
	return nr > 1 ? -ENOMEM : 0;
}

static void fails(void)
{
	struct counted c = { 0 };
	struct s3_config config = config_of(&c, 2);
	struct s3_result r;

	config.evaluate = failing;
	ok_int(s3_run(&r, &config), -ENOMEM);
	config.explorations = 0;
	ok_int(s3_run(&r, &config), -EINVAL);
}

static const struct tap_test tests[] = {
	{ "the search evaluates what the literal algorithm does, in its order", literal },
	{ "the bound is that of theorem 1", bound },
	{ "the search finds the bottom of a bowl", finds },
	{ "a stop rule and the end of the grid end it", stops },
	{ "a failing objective ends it with its error", fails },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
