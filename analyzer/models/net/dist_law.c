// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "analyzer/models/net/dist_law.h"

static int make_beta(struct dist *d, const double *v, struct err *err)
{
	return dist_beta(d, v[0], v[1], v[2], err);
}

/* QPME's has no scale. */
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

static int make_weibull(struct dist *d, const double *v, struct err *err)
{
	return dist_weibull(d, v[0], v[1], err);
}

static int make_normal(struct dist *d, const double *v, struct err *err)
{
	return dist_normal(d, v[0], v[1], err);
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
	  .keys = { "value" },
	  .attributes = { "p1" },
	  .form = "{value: TIME}",
	  .make = make_deterministic },
	{ .qpme = "Exponential", .attributes = { "lambda" }, .make = make_exponential },
	{ .qpme = "Gamma", .attributes = { "alpha", "lambda" }, .make = make_gamma },
	{ .name = "uniform",
	  .qpme = "Uniform",
	  .keys = { "min", "max" },
	  .attributes = { "min", "max" },
	  .form = "{min: TIME, max: TIME}",
	  .make = make_uniform },
	{ .name = "normal",
	  .keys = { "mean", "sd" },
	  .form = "{mean: TIME, sd: TIME}",
	  .make = make_normal },
	{ .name = "cut_normal",
	  .qpme = "Normal",
	  .keys = { "mean", "sd" },
	  .attributes = { "mean", "stdDev" },
	  .form = "{mean: TIME, sd: TIME}",
	  .make = make_cut_normal },
	{ .name = "weibull",
	  .keys = { "shape", "scale" },
	  .form = "{shape: NUMBER, scale: TIME}",
	  .make = make_weibull },
	{ .name = "beta",
	  .keys = { "alpha", "beta", "scale" },
	  .form = "{alpha: NUMBER, beta: NUMBER}, and scale: TIME where it is not 1",
	  .optional = 1,
	  .make = make_beta },
	{ .qpme = "Beta", .attributes = { "alpha", "beta" }, .make = make_unit_beta },
	{ .name = "chi_square",
	  .qpme = "ChiSquare",
	  .keys = { "freedom" },
	  .attributes = { "freedom" },
	  .form = "{freedom: NUMBER}",
	  .make = make_chi_square },
	{ .name = "logarithmic",
	  .qpme = "Logarithmic",
	  .keys = { "p" },
	  .attributes = { "p" },
	  .form = "{p: NUMBER}",
	  .make = make_logarithmic },
	{ .name = "hyperbolic",
	  .qpme = "Hyperbolic",
	  .keys = { "alpha", "beta" },
	  .attributes = { "alpha", "beta" },
	  .form = "{alpha: NUMBER, beta: NUMBER}",
	  .make = make_hyperbolic },
	{ .name = "exponential_power",
	  .qpme = "ExponentialPower",
	  .keys = { "tau" },
	  .attributes = { "tau" },
	  .form = "{tau: NUMBER}",
	  .make = make_exponential_power },
	{ .name = "student_t",
	  .qpme = "StudentT",
	  .keys = { "freedom" },
	  .attributes = { "freedom" },
	  .form = "{freedom: NUMBER}",
	  .make = make_student_t },
	{ .name = "von_mises",
	  .qpme = "VonMises",
	  .keys = { "k" },
	  .attributes = { "freedom" },
	  .form = "{k: NUMBER}",
	  .make = make_von_mises },
	{ .name = "breit_wigner",
	  .qpme = "BreitWigner",
	  .keys = { "mean", "gamma", "cut" },
	  .attributes = { "mean", "gamma", "cut" },
	  .form = "{mean: TIME, gamma: TIME, cut: TIME}",
	  .make = make_breit_wigner },
	{ .name = "breit_wigner_mean_square",
	  .qpme = "BreitWignerMeanSquare",
	  .keys = { "mean", "gamma", "cut" },
	  .attributes = { "mean", "gamma", "cut" },
	  .form = "{mean: TIME, gamma: TIME, cut: TIME}",
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
