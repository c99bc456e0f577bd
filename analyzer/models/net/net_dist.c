// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/dist_law.h"
#include "analyzer/models/net/net_dist.h"
#include "analyzer/models/net/number_file.h"

#define SAID(member) offsetof(struct dist_said, member)
#define MEMBER(key)                                                                    \
	{                                                                              \
		.name = #key, .as = &net_number, .offset = SAID(key), .required = true \
	}
#define SQUARE "square matrices of the same size, as lists of rows"

/* This struct holds the numbers of a list, or of a matrix by rows. */
struct number_list {
	double *values; /* owned */
	size_t nr;	/* numbers of a list, or rows of a matrix */
};

/*
 * This struct holds the contents of one distribution's mapping. NaN and an empty list stand for
 * missing values.
 */
struct dist_said {
	double value, min, max, mean, rate, k, sd, shape, scale, mu, sigma, scv;
	double alpha, beta, freedom, p, tau, gamma, cut;
	struct number_list probabilities, means, values, weights, edges, counts, d0, d1, rates;
	struct number_list switching;
};

static void dist_said_init(struct dist_said *s)
{
	*s = (struct dist_said){ 0 };
	for (double *v = &s->value; v <= &s->cut; v++)
		*v = NAN;
}

static void dist_said_release(struct dist_said *s)
{
	for (struct number_list *l = &s->probabilities; l <= &s->switching; l++)
		free(l->values);
}

static int dist_read_list(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	const struct field *number = f->as ? f->as->item : f->item;
	struct number_list *list = to;

	list->values = calloc(n->nr, sizeof(*list->values));
	if (!list->values)
		return fields_no_memory(r);
	for (; list->nr < n->nr; list->nr++) {
		int ret = fields_number(r, number, n->items[list->nr], &list->values[list->nr]);

		if (ret)
			return ret;
	}
	return 0;
}

static int dist_read_matrix(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	struct number_list *list = to;

	(void)f;
	list->values = calloc(n->nr * n->nr, sizeof(*list->values));
	if (!list->values)
		return fields_no_memory(r);
	for (; list->nr < n->nr; list->nr++) {
		const struct yaml_node *row = n->items[list->nr];

		if (row->kind != YAML_LIST || row->nr != n->nr)
			return fields_error(r, n, "expected " SQUARE);
		for (size_t k = 0; k < n->nr; k++) {
			int ret = fields_number(r, &net_number, row->items[k],
						&list->values[list->nr * n->nr + k]);

			if (ret)
				return ret;
		}
	}
	return 0;
}

/* Reads a file of numbers, a measured trace, which lies beside the model. */
static int dist_read_file(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	struct number_list *list = to;
	struct err why = { 0 };
	char path[4096];
	int ret;

	(void)f;
	if (number_file_path(path, sizeof(path), yaml_tree_name(r->tree), n->text))
		return fields_error(r, n, "the path is too long");
	ret = number_file_read(&list->values, &list->nr, path, &why);
	if (ret == -EINVAL)
		return err_set(r->err, EINVAL, "%s", why.line);
	return ret ? fields_error(r, n, "%s", why.line) : 0;
}

static int make_exponential(struct dist *d, const struct dist_said *s, struct err *why)
{
	return dist_exponential(d, isnan(s->mean) ? 1 / s->rate : s->mean, why);
}

static int make_erlang(struct dist *d, const struct dist_said *s, struct err *why)
{
	return dist_erlang(d, s->k, isnan(s->mean) ? s->k / s->rate : s->mean, why);
}

static int make_gamma(struct dist *d, const struct dist_said *s, struct err *why)
{
	if (isnan(s->mean))
		return dist_gamma(d, s->shape, s->scale, why);
	if (s->sd < 0)
		return err_set(why, EINVAL, "gamma: sd: expected 0 or more, got %g", s->sd);
	return dist_gamma(d, s->mean / s->sd * (s->mean / s->sd), s->sd * s->sd / s->mean, why);
}

static int make_lognormal(struct dist *d, const struct dist_said *s, struct err *why)
{
	double sigma;

	if (isnan(s->mean))
		return dist_lognormal(d, s->mu, s->sigma, why);
	if (s->sd < 0)
		return err_set(why, EINVAL, "lognormal: sd: expected 0 or more, got %g", s->sd);
	sigma = sqrt(log1p(s->sd / s->mean * (s->sd / s->mean)));
	return dist_lognormal(d, log(s->mean) - sigma * sigma / 2, sigma, why);
}

static int make_hyperexponential(struct dist *d, const struct dist_said *s, struct err *why)
{
	if (!s->means.nr)
		return dist_hyperexponential_fit(d, s->mean, s->scv, why);
	if (s->means.nr != s->probabilities.nr)
		return err_set(why, EINVAL,
			       "hyperexponential: expected as many means as probabilities");
	return dist_hyperexponential(d, s->probabilities.values, s->means.values, s->means.nr, why);
}

static int make_empirical(struct dist *d, const struct dist_said *s, struct err *why)
{
	if (s->weights.nr && s->weights.nr != s->values.nr)
		return err_set(why, EINVAL, "empirical: expected as many weights as values");
	return dist_values(d, s->values.values, s->weights.values, s->values.nr, why);
}

static int make_histogram(struct dist *d, const struct dist_said *s, struct err *why)
{
	if (s->edges.nr != s->counts.nr + 1)
		return err_set(why, EINVAL, "histogram: expected one edge more than counts");
	return dist_histogram(d, s->edges.values, s->counts.values, s->counts.nr, why);
}

static int make_map(struct dist *d, const struct dist_said *s, struct err *why)
{
	if (s->d0.nr != s->d1.nr)
		return err_set(why, EINVAL, "map: expected " SQUARE);
	return dist_map(d, s->d0.values, s->d1.values, s->d0.nr, why);
}

/* Makes a Markov-modulated Poisson process. The diagonal of switching is ignored. */
static int make_mmpp(struct dist *d, const struct dist_said *s, struct err *why)
{
	double d0[DIST_MAX_PHASES * DIST_MAX_PHASES], d1[DIST_MAX_PHASES * DIST_MAX_PHASES] = { 0 };
	size_t nr = s->rates.nr;

	if (s->switching.nr != nr)
		return err_set(why, EINVAL, "mmpp: expected " SQUARE);
	memcpy(d0, s->switching.values, nr * nr * sizeof(*d0));
	for (size_t i = 0; i < nr; i++) {
		d1[i * nr + i] = s->rates.values[i];
		d0[i * nr + i] = -s->rates.values[i];
		for (size_t k = 0; k < nr; k++)
			if (k != i)
				d0[i * nr + i] -= d0[i * nr + k];
	}
	return dist_map(d, d0, d1, nr, why);
}

static int make_normal(struct dist *d, const struct dist_said *s, struct err *why)
{
	return dist_normal(d, s->mean, s->sd, why);
}

static int make_weibull(struct dist *d, const struct dist_said *s, struct err *why)
{
	return dist_weibull(d, s->shape, s->scale, why);
}

static int make_beta(struct dist *d, const struct dist_said *s, struct err *why)
{
	return dist_beta(d, s->alpha, s->beta, isnan(s->scale) ? 1 : s->scale, why);
}

static const struct field list_of_numbers =
	FIELD(LIST, NULL, .item = &net_number, .low = 1, .read = dist_read_list,
	      .expected = "a list of numbers");
static const struct field list_of_rates =
	FIELD(LIST, NULL, .item = &net_number, .low = 1, .high = DIST_MAX_PHASES,
	      .read = dist_read_list, .expected = "a list of 1 to 64 numbers");
static const struct field matrix_row = FIELD(LIST, NULL, .item = &net_number, .low = 1);
static const struct field matrix =
	FIELD(LIST, "matrix", .item = &matrix_row, .low = 1, .high = DIST_MAX_PHASES,
	      .read = dist_read_matrix, .expected = "a square matrix of 1 to 64 rows");

static const struct field value_fields[] = { MEMBER(value), { 0 } };
static const struct field uniform_fields[] = { MEMBER(min), MEMBER(max), { 0 } };
static const struct field mean_sd_fields[] = { MEMBER(mean), MEMBER(sd), { 0 } };
static const struct field weibull_fields[] = { MEMBER(shape), MEMBER(scale), { 0 } };
static const struct field beta_fields[] = {
	MEMBER(alpha),
	MEMBER(beta),
	FIELD_AS(&net_number, "scale", .offset = SAID(scale), .standard = "1"),
	{ 0 },
};
static const struct field freedom_fields[] = { MEMBER(freedom), { 0 } };
static const struct field p_fields[] = { MEMBER(p), { 0 } };
static const struct field hyperbolic_fields[] = { MEMBER(alpha), MEMBER(beta), { 0 } };
static const struct field tau_fields[] = { MEMBER(tau), { 0 } };
static const struct field k_fields[] = { MEMBER(k), { 0 } };
static const struct field breit_wigner_fields[] = { MEMBER(mean),
						    MEMBER(gamma),
						    MEMBER(cut),
						    { 0 } };
static const struct field exponential_fields[] = {
	FIELD_AS(&net_number, "mean", .offset = SAID(mean), .choice = 1),
	FIELD_AS(&net_number, "rate", .offset = SAID(rate), .choice = 1),
	{ 0 },
};
static const struct field erlang_fields[] = {
	MEMBER(k),
	FIELD_AS(&net_number, "mean", .offset = SAID(mean), .choice = 1),
	FIELD_AS(&net_number, "rate", .offset = SAID(rate), .choice = 1, .help = "of one phase"),
	{ 0 },
};
static const struct field gamma_fields[] = {
	FIELD_AS(&net_number, "mean", .offset = SAID(mean), .choice = 1, .with = "sd"),
	FIELD_AS(&net_number, "sd", .offset = SAID(sd), .with = "mean"),
	FIELD_AS(&net_number, "shape", .offset = SAID(shape), .choice = 1, .with = "scale"),
	FIELD_AS(&net_number, "scale", .offset = SAID(scale), .with = "shape"),
	{ 0 },
};
static const struct field lognormal_fields[] = {
	FIELD_AS(&net_number, "mean", .offset = SAID(mean), .choice = 1, .with = "sd"),
	FIELD_AS(&net_number, "sd", .offset = SAID(sd), .with = "mean"),
	FIELD_AS(&net_number, "mu", .offset = SAID(mu), .choice = 1, .with = "sigma"),
	FIELD_AS(&net_number, "sigma", .offset = SAID(sigma), .with = "mu"),
	{ 0 },
};
static const struct field hyperexponential_fields[] = {
	FIELD_AS(&net_number, "mean", .offset = SAID(mean), .choice = 1, .with = "scv"),
	FIELD_AS(&net_number, "scv", .offset = SAID(scv), .with = "mean",
		 .help = "squared coefficient of variation"),
	FIELD_AS(&list_of_numbers, "probabilities", .offset = SAID(probabilities), .choice = 1,
		 .with = "means"),
	FIELD_AS(&list_of_numbers, "means", .offset = SAID(means), .with = "probabilities"),
	{ 0 },
};
static const struct field empirical_fields[] = {
	FIELD_AS(&list_of_numbers, "values", .offset = SAID(values), .choice = 1),
	FIELD_AS(&list_of_numbers, "weights", .offset = SAID(weights), .with = "values"),
	FIELD(TEXT, "file", .read = dist_read_file, .offset = SAID(values), .choice = 1,
	      .help = "one number per line, beside the net"),
	{ 0 },
};
static const struct field histogram_fields[] = {
	FIELD_AS(&list_of_numbers, "edges", .offset = SAID(edges), .required = true),
	FIELD_AS(&list_of_numbers, "counts", .offset = SAID(counts), .required = true),
	{ 0 },
};
static const struct field map_fields[] = {
	FIELD_AS(&matrix, "d0", .offset = SAID(d0), .required = true),
	FIELD_AS(&matrix, "d1", .offset = SAID(d1), .required = true),
	{ 0 },
};
static const struct field mmpp_fields[] = {
	FIELD_AS(&list_of_rates, "rates", .offset = SAID(rates), .required = true),
	FIELD_AS(&matrix, "switching", .offset = SAID(switching), .required = true,
		 .help = "rates between the phases; the diagonal is not looked at"),
	{ 0 },
};

/*
 * This struct is a distribution that dist_law.h makes from numbers in the order of its table, or
 * one that is made here.
 */
struct dist_form {
	struct fields table;
	int (*make)(struct dist *d, const struct dist_said *s, struct err *why);
};
#define KIND(kind_fields, kind_make, kind_form)                             \
	{                                                                   \
		{ .fields = kind_fields, .expected = kind_form }, kind_make \
	}
/* The order is that of the fields below. */
static const struct dist_form dist_kinds[] = {
	KIND(value_fields, NULL, NULL),
	KIND(exponential_fields, make_exponential, "{mean: TIME} or {rate: NUMBER}"),
	KIND(erlang_fields, make_erlang,
	     "{k: PHASES, mean: TIME} or {k: PHASES, rate: OF ONE PHASE}"),
	KIND(gamma_fields, make_gamma, "{mean: TIME, sd: TIME} or {shape: NUMBER, scale: TIME}"),
	KIND(hyperexponential_fields, make_hyperexponential,
	     "{mean: TIME, scv: NUMBER} or {probabilities: [...], means: [...]}"),
	KIND(lognormal_fields, make_lognormal,
	     "{mean: TIME, sd: TIME} or {mu: NUMBER, sigma: NUMBER}"),
	KIND(mean_sd_fields, make_normal, NULL),
	KIND(mean_sd_fields, NULL, NULL),
	KIND(uniform_fields, NULL, NULL),
	KIND(weibull_fields, make_weibull, NULL),
	KIND(beta_fields, make_beta, NULL),
	KIND(freedom_fields, NULL, NULL),
	KIND(p_fields, NULL, NULL),
	KIND(hyperbolic_fields, NULL, NULL),
	KIND(tau_fields, NULL, NULL),
	KIND(freedom_fields, NULL, NULL),
	KIND(k_fields, NULL, NULL),
	KIND(breit_wigner_fields, NULL, NULL),
	KIND(breit_wigner_fields, NULL, NULL),
	KIND(empirical_fields, make_empirical, "{values: [...], weights: [...]} or {file: NAME}"),
	KIND(histogram_fields, make_histogram, NULL),
	KIND(map_fields, make_map, NULL),
	KIND(mmpp_fields, make_mmpp, NULL),
};

static int make_law(struct dist *d, const char *name, const struct fields *t,
		    const struct dist_said *s, struct err *why)
{
	const struct dist_law *law = dist_law_find(name);
	double v[DIST_LAW_MAX_NUMBERS] = { 0 };

	for (size_t i = 0; t->fields[i].name; i++)
		v[i] = *(const double *)((const char *)s + t->fields[i].offset);
	return law->make(d, v, why);
}

/* Reads a distribution. f is one of dist_fields, and to is the distribution. */
static int dist_read(const struct fields_reader *r, const struct field *f,
		     const struct yaml_node *n, void *to)
{
	const struct dist_form *kind = (const struct dist_form *)f->of;
	struct dist_said said;
	struct err why = { 0 };
	int ret;

	dist_said_init(&said);
	ret = fields_read(r, f->of, n, &said);
	if (ret)
		goto out;
	dist_release(to);
	ret = kind->make ? kind->make(to, &said, &why) : make_law(to, f->name, f->of, &said, &why);
	if (ret == -EINVAL)
		ret = yaml_tree_error(r->tree, n, r->err, "%s", why.line);
	else if (ret)
		ret = fields_no_memory(r);
out:
	dist_said_release(&said);
	return ret;
}

#define DIST(at, dist_name, text)                                                     \
	{                                                                             \
		.name = dist_name, .type = FIELD_STRUCT, .of = &dist_kinds[at].table, \
		.read = dist_read, .help = text                                       \
	}
static const struct field dist_fields[] = {
	DIST(0, "deterministic", NULL),
	DIST(1, "exponential", NULL),
	DIST(2, "erlang", NULL),
	DIST(3, "gamma", NULL),
	DIST(4, "hyperexponential", NULL),
	DIST(5, "lognormal", NULL),
	DIST(6, "normal", "drawn again where it falls below 0"),
	DIST(7, "cut_normal", "on the whole line; what falls below 0 is 0"),
	DIST(8, "uniform", NULL),
	DIST(9, "weibull", NULL),
	DIST(10, "beta", "scale times a beta variate"),
	DIST(11, "chi_square", NULL),
	DIST(12, "logarithmic", "1, 2, 3, ... with probability -p^k / (k ln(1 - p)), 0 < p < 1"),
	DIST(13, "hyperbolic",
	     "density ~ exp(-alpha sqrt(1 + x^2) + beta x), |beta| < alpha, on the whole line; "
	     "what falls below 0 is 0"),
	DIST(14, "exponential_power",
	     "density ~ exp(-|x|^tau), tau >= 1, on the whole line; what falls below 0 is 0"),
	DIST(15, "student_t", "freedom > 2, on the whole line; what falls below 0 is 0"),
	DIST(16, "von_mises",
	     "density ~ exp(k cos x) on (-pi, pi), k > 0, on the whole line; what falls below 0 is "
	     "0"),
	DIST(17, "breit_wigner",
	     "Cauchy of width gamma within mean +- cut, on the whole line; what falls below 0 is "
	     "0"),
	DIST(18, "breit_wigner_mean_square",
	     "X^2 Cauchy about mean^2 of width mean gamma, X within mean +- cut"),
	DIST(19, "empirical", "values that were measured"),
	DIST(20, "histogram", NULL),
	DIST(21, "map", "Markovian arrival process: rates without and with an arrival"),
	DIST(22, "mmpp", "Markov-modulated Poisson process"),
	{ 0 },
};
static const struct fields dist_table = {
	.fields = dist_fields,
	.one_key = true,
	.noun = "distribution",
	.expected = "one distribution, as in {exponential: {mean: 1}}",
};
const struct field net_distribution =
	FIELD(STRUCT, "distribution", .of = &dist_table,
	      .expected = "one distribution, as in {exponential: {mean: 1}}");
