// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "analyzer/models/net/dist_law.h"

/* Makes a beta distribution on [0, 1], because QPME's has no scale. */
static int make_unit_beta(struct dist *d, const double *v, struct err *err)
{
	return dist_beta(d, v[0], v[1], 1, err);
}

static int make_chi_square(struct dist *d, const double *v, struct err *err)
{
	return dist_chi_square(d, v[0], err);
}

static int make_logarithmic(struct dist *d, const double *v, struct err *err)
{
	return dist_logarithmic(d, v[0], err);
}

static int make_cut_normal(struct dist *d, const double *v, struct err *err)
{
	return dist_cut_normal(d, v[0], v[1], err);
}

static int make_hyperbolic(struct dist *d, const double *v, struct err *err)
{
	return dist_hyperbolic(d, v[0], v[1], err);
}

static int make_exponential_power(struct dist *d, const double *v, struct err *err)
{
	return dist_exponential_power(d, v[0], err);
}

static int make_student_t(struct dist *d, const double *v, struct err *err)
{
	return dist_student_t(d, v[0], err);
}

static int make_von_mises(struct dist *d, const double *v, struct err *err)
{
	return dist_von_mises(d, v[0], err);
}

static int make_breit_wigner(struct dist *d, const double *v, struct err *err)
{
	return dist_breit_wigner(d, v[0], v[1], v[2], err);
}

static int make_mean_square(struct dist *d, const double *v, struct err *err)
{
	return dist_breit_wigner_mean_square(d, v[0], v[1], v[2], err);
}

static int make_uniform(struct dist *d, const double *v, struct err *err)
{
	return dist_uniform(d, v[0], v[1], err);
}

static int make_deterministic(struct dist *d, const double *v, struct err *err)
{
	return dist_deterministic(d, v[0], err);
}

static int make_exponential(struct dist *d, const double *v, struct err *err)
{
	return dist_exponential(d, 1 / v[0], err);
}

static int make_gamma(struct dist *d, const double *v, struct err *err)
{
	return dist_gamma(d, v[0], 1 / v[1], err);
}

static const struct dist_law laws[] = {
	{ .name = "deterministic",
	  .qpme = "Deterministic",
	  .attributes = { "p1" },
	  .make = make_deterministic },
	{ .qpme = "Exponential", .attributes = { "lambda" }, .make = make_exponential },
	{ .qpme = "Gamma", .attributes = { "alpha", "lambda" }, .make = make_gamma },
	{ .name = "uniform",
	  .qpme = "Uniform",
	  .attributes = { "min", "max" },
	  .make = make_uniform },
	{ .name = "cut_normal",
	  .qpme = "Normal",
	  .attributes = { "mean", "stdDev" },
	  .make = make_cut_normal },
	{ .qpme = "Beta", .attributes = { "alpha", "beta" }, .make = make_unit_beta },
	{ .name = "chi_square",
	  .qpme = "ChiSquare",
	  .attributes = { "freedom" },
	  .make = make_chi_square },
	{ .name = "logarithmic",
	  .qpme = "Logarithmic",
	  .attributes = { "p" },
	  .make = make_logarithmic },
	{ .name = "hyperbolic",
	  .qpme = "Hyperbolic",
	  .attributes = { "alpha", "beta" },
	  .make = make_hyperbolic },
	{ .name = "exponential_power",
	  .qpme = "ExponentialPower",
	  .attributes = { "tau" },
	  .make = make_exponential_power },
	{ .name = "student_t",
	  .qpme = "StudentT",
	  .attributes = { "freedom" },
	  .make = make_student_t },
	{ .name = "von_mises",
	  .qpme = "VonMises",
	  .attributes = { "freedom" },
	  .make = make_von_mises },
	{ .name = "breit_wigner",
	  .qpme = "BreitWigner",
	  .attributes = { "mean", "gamma", "cut" },
	  .make = make_breit_wigner },
	{ .name = "breit_wigner_mean_square",
	  .qpme = "BreitWignerMeanSquare",
	  .attributes = { "mean", "gamma", "cut" },
	  .make = make_mean_square },
};

const struct dist_law *dist_law_find(const char *name)
{
	for (size_t i = 0; i < sizeof(laws) / sizeof(*laws); i++)
		if (laws[i].name && !strcmp(laws[i].name, name))
			return &laws[i];
	return NULL;
}

const struct dist_law *dist_law_find_qpme(const char *name)
{
	for (size_t i = 0; i < sizeof(laws) / sizeof(*laws); i++)
		if (laws[i].qpme && !strcmp(laws[i].qpme, name))
			return &laws[i];
	return NULL;
}
