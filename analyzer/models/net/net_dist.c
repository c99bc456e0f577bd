// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/dist_law.h"
#include "analyzer/models/net/net_dist.h"
#include "analyzer/models/net/number_file.h"

/* Numbers of one distribution, by key; NaN where the file says nothing. */
struct arguments {
	struct net_reader *r;
	const struct yaml_node *node;
};

static double net_dist_get(struct arguments *a, const char *key, int *err)
{
	const struct yaml_node *n = yaml_node_get(a->node, key);
	double value = NAN;

	if (!*err && n)
		*err = net_read_value(a->r, n, &value);
	return value;
}

static int net_dist_expect(struct arguments *a, const char *what)
{
	return yaml_tree_error(a->r->tree, a->node, a->r->err, "%s: expected %s", a->node->key,
			       what);
}

/* What the distribution itself refuses gets its place. */
static int net_dist_placed(struct arguments *a, int err, const struct err *why)
{
	if (err == -EINVAL)
		return yaml_tree_error(a->r->tree, a->node, a->r->err, "%s", why->line);
	return err ? net_read_out_of_memory(a->r) : 0;
}

static int net_dist_allow(struct arguments *a, const char *const *keys)
{
	return yaml_tree_keys(a->r->tree, a->node, keys, a->r->err);
}

static int read_exponential(struct arguments *a, struct dist *d)
{
	static const char *const keys[] = { "mean", "rate", NULL };
	struct err why = { 0 };
	int ret = net_dist_allow(a, keys);
	double mean = net_dist_get(a, "mean", &ret), rate = net_dist_get(a, "rate", &ret);

	if (ret)
		return ret;
	if (isnan(mean) == isnan(rate))
		return net_dist_expect(a, "{mean: TIME} or {rate: NUMBER}");
	return net_dist_placed(a, dist_exponential(d, isnan(mean) ? 1 / rate : mean, &why), &why);
}

static int read_erlang(struct arguments *a, struct dist *d)
{
	static const char *const keys[] = { "k", "mean", "rate", NULL };
	struct err why = { 0 };
	int ret = net_dist_allow(a, keys);
	double k = net_dist_get(a, "k", &ret), mean = net_dist_get(a, "mean", &ret),
	       rate = net_dist_get(a, "rate", &ret);

	if (ret)
		return ret;
	if (isnan(k) || isnan(mean) == isnan(rate))
		return net_dist_expect(
			a, "{k: PHASES, mean: TIME} or {k: PHASES, rate: OF ONE PHASE}");
	return net_dist_placed(a, dist_erlang(d, k, isnan(mean) ? k / rate : mean, &why), &why);
}

static int read_gamma(struct arguments *a, struct dist *d)
{
	static const char *const keys[] = { "mean", "sd", "shape", "scale", NULL };
	struct err why = { 0 };
	int ret = net_dist_allow(a, keys);
	double mean = net_dist_get(a, "mean", &ret), sd = net_dist_get(a, "sd", &ret);
	double shape = net_dist_get(a, "shape", &ret), scale = net_dist_get(a, "scale", &ret);

	if (ret)
		return ret;
	if (sd < 0)
		return net_dist_expect(a, "sd of 0 or more");
	if (!isnan(mean) && !isnan(sd) && isnan(shape) && isnan(scale)) {
		shape = mean / sd * (mean / sd);
		scale = sd * sd / mean;
	} else if (isnan(shape) || isnan(scale) || !isnan(mean) || !isnan(sd)) {
		return net_dist_expect(a, "{mean: TIME, sd: TIME} or {shape: NUMBER, scale: TIME}");
	}
	return net_dist_placed(a, dist_gamma(d, shape, scale, &why), &why);
}

static int read_lognormal(struct arguments *a, struct dist *d)
{
	static const char *const keys[] = { "mean", "sd", "mu", "sigma", NULL };
	struct err why = { 0 };
	int ret = net_dist_allow(a, keys);
	double mean = net_dist_get(a, "mean", &ret), sd = net_dist_get(a, "sd", &ret);
	double mu = net_dist_get(a, "mu", &ret), sigma = net_dist_get(a, "sigma", &ret);

	if (ret)
		return ret;
	if (sd < 0)
		return net_dist_expect(a, "sd of 0 or more");
	if (!isnan(mean) && !isnan(sd) && isnan(mu) && isnan(sigma)) {
		sigma = sqrt(log1p(sd / mean * (sd / mean)));
		mu = log(mean) - sigma * sigma / 2;
	} else if (isnan(mu) || isnan(sigma) || !isnan(mean) || !isnan(sd)) {
		return net_dist_expect(a, "{mean: TIME, sd: TIME} or {mu: NUMBER, sigma: NUMBER}");
	}
	return net_dist_placed(a, dist_lognormal(d, mu, sigma, &why), &why);
}

/* A list of numbers, owned by the caller. */
static int read_list(struct arguments *a, const struct yaml_node *list, double **out)
{
	double *values;
	int ret = 0;

	if (!list || list->kind != YAML_LIST || !list->nr)
		return yaml_tree_error(a->r->tree, list ? list : a->node, a->r->err,
				       "expected a list of numbers");
	values = calloc(list->nr, sizeof(*values));
	if (!values)
		return net_read_out_of_memory(a->r);
	for (size_t i = 0; i < list->nr; i++) {
		ret = net_read_value(a->r, list->items[i], &values[i]);
		if (ret)
			goto out;
	}
out:
	if (ret)
		free(values);
	else
		*out = values;
	return ret;
}

static int read_branches(struct arguments *a, struct dist *d)
{
	const struct yaml_node *p = yaml_node_get(a->node, "probabilities");
	const struct yaml_node *m = yaml_node_get(a->node, "means");
	double *probabilities = NULL, *means = NULL;
	struct err why = { 0 };
	int ret = read_list(a, p, &probabilities);

	if (ret)
		goto out;
	ret = read_list(a, m, &means);
	if (ret)
		goto out;
	if (p->nr != m->nr)
		ret = net_dist_expect(a, "as many means as probabilities");
	if (ret)
		goto out;
	ret = net_dist_placed(a, dist_hyperexponential(d, probabilities, means, p->nr, &why), &why);
out:
	free(probabilities);
	free(means);
	return ret;
}

static int read_hyperexponential(struct arguments *a, struct dist *d)
{
	static const char *const keys[] = { "mean", "scv", "probabilities", "means", NULL };
	struct err why = { 0 };
	int ret = net_dist_allow(a, keys);
	double mean = net_dist_get(a, "mean", &ret), scv = net_dist_get(a, "scv", &ret);
	bool branches = yaml_node_get(a->node, "means") || yaml_node_get(a->node, "probabilities");

	if (ret)
		return ret;
	if (branches && isnan(mean) && isnan(scv))
		return read_branches(a, d);
	if (branches || isnan(mean) || isnan(scv))
		return net_dist_expect(
			a, "{mean: TIME, scv: NUMBER} or {probabilities: [...], means: [...]}");
	return net_dist_placed(a, dist_hyperexponential_fit(d, mean, scv, &why), &why);
}

/* A file of numbers beside the model: a measured trace. Owned by the caller. */
static int read_numbers(struct arguments *a, const char *name, double **out, size_t *nr)
{
	struct err why = { 0 };
	char path[4096];
	int ret;

	if (number_file_path(path, sizeof(path), a->r->net->file, name))
		return yaml_tree_error(a->r->tree, a->node, a->r->err, "the path is too long");
	ret = number_file_read(out, nr, path, &why);
	if (ret == -EINVAL)
		return err_set(a->r->err, EINVAL, "%s", why.line);
	return ret ? yaml_tree_error(a->r->tree, a->node, a->r->err, "%s", why.line) : 0;
}

/* {values: [..], weights: [..]} or {file: TRACE} */
static int read_empirical(struct arguments *a, struct dist *d)
{
	static const char *const keys[] = { "values", "weights", "file", NULL };
	const struct yaml_node *v = yaml_node_get(a->node, "values");
	const struct yaml_node *w = yaml_node_get(a->node, "weights");
	const struct yaml_node *file = yaml_node_get(a->node, "file");
	double *values = NULL, *weights = NULL;
	struct err why = { 0 };
	size_t nr = 0;
	int ret = net_dist_allow(a, keys);

	if (!ret && (!v == !file || (file && (w || file->kind != YAML_SCALAR))))
		ret = net_dist_expect(a, "{values: [...], weights: [...]} or {file: NAME}");
	if (!ret && v) {
		ret = read_list(a, v, &values);
		nr = v->nr;
	} else if (!ret) {
		ret = read_numbers(a, file->text, &values, &nr);
	}
	if (ret)
		goto out;
	if (w)
		ret = read_list(a, w, &weights);
	if (ret)
		goto out;
	if (w && w->nr != nr)
		ret = net_dist_expect(a, "as many weights as values");
	if (ret)
		goto out;
	ret = net_dist_placed(a, dist_values(d, values, weights, nr, &why), &why);
out:
	free(values);
	free(weights);
	return ret;
}

/* {edges: [0, 1, 3], counts: [30, 10]} */
static int read_histogram(struct arguments *a, struct dist *d)
{
	static const char *const keys[] = { "edges", "counts", NULL };
	const struct yaml_node *e = yaml_node_get(a->node, "edges");
	const struct yaml_node *c = yaml_node_get(a->node, "counts");
	double *edges = NULL, *counts = NULL;
	struct err why = { 0 };
	int ret = net_dist_allow(a, keys);

	if (ret)
		goto out;
	ret = read_list(a, e, &edges);
	if (ret)
		goto out;
	ret = read_list(a, c, &counts);
	if (ret)
		goto out;
	if (e->nr != c->nr + 1)
		ret = net_dist_expect(a, "one edge more than counts");
	if (ret)
		goto out;
	ret = net_dist_placed(a, dist_histogram(d, edges, counts, c->nr, &why), &why);
out:
	free(edges);
	free(counts);
	return ret;
}

/* nr x nr numbers by rows into m. */
static int read_matrix(struct arguments *a, const struct yaml_node *list, size_t nr, double *m)
{
	int ret = 0;

	if (!list || list->kind != YAML_LIST || list->nr != nr)
		return net_dist_expect(a, "square matrices of the same size, as lists of rows");
	for (size_t i = 0; i < nr; i++) {
		const struct yaml_node *row = list->items[i];

		if (row->kind != YAML_LIST || row->nr != nr)
			return net_dist_expect(
				a, "square matrices of the same size, as lists of rows");
		for (size_t k = 0; !ret && k < nr; k++)
			ret = net_read_value(a->r, row->items[k], &m[i * nr + k]);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_map(struct arguments *a, struct dist *d)
{
	static const char *const keys[] = { "d0", "d1", NULL };
	const struct yaml_node *first = yaml_node_get(a->node, "d0");
	size_t nr = first && first->kind == YAML_LIST ? first->nr : 0;
	double m[2 * DIST_MAX_PHASES * DIST_MAX_PHASES];
	struct err why = { 0 };
	int ret = net_dist_allow(a, keys);

	if (!ret && (nr < 1 || nr > DIST_MAX_PHASES))
		ret = net_dist_expect(a, "{d0: MATRIX, d1: MATRIX} of 1 to 64 rows");
	if (!ret)
		ret = read_matrix(a, first, nr, m);
	if (!ret)
		ret = read_matrix(a, yaml_node_get(a->node, "d1"), nr, m + nr * nr);
	return ret ? ret : net_dist_placed(a, dist_map(d, m, m + nr * nr, nr, &why), &why);
}

/* {rates: [..], switching: MATRIX}: the diagonal of switching is not looked at. */
static int read_mmpp(struct arguments *a, struct dist *d)
{
	static const char *const keys[] = { "rates", "switching", NULL };
	const struct yaml_node *list = yaml_node_get(a->node, "rates");
	double d0[DIST_MAX_PHASES * DIST_MAX_PHASES], d1[DIST_MAX_PHASES * DIST_MAX_PHASES] = { 0 };
	double *rates = NULL;
	struct err why = { 0 };
	int ret = net_dist_allow(a, keys);
	size_t nr;

	if (!ret)
		ret = read_list(a, list, &rates);
	if (ret)
		return ret;
	nr = list->nr;
	if (nr > DIST_MAX_PHASES)
		ret = net_dist_expect(a, "64 rates at most");
	if (!ret)
		ret = read_matrix(a, yaml_node_get(a->node, "switching"), nr, d0);
	for (size_t i = 0; !ret && i < nr; i++) {
		d1[i * nr + i] = rates[i];
		d0[i * nr + i] = -rates[i];
		for (size_t k = 0; k < nr; k++)
			if (k != i)
				d0[i * nr + i] -= d0[i * nr + k];
	}
	free(rates);
	return ret ? ret : net_dist_placed(a, dist_map(d, d0, d1, nr, &why), &why);
}

static int read_law(struct arguments *a, struct dist *d, const struct dist_law *law)
{
	double v[DIST_LAW_MAX_NUMBERS] = { 0 };
	struct err why = { 0 };
	int ret = net_dist_allow(a, law->keys);

	for (int i = 0; !ret && law->keys[i]; i++) {
		v[i] = net_dist_get(a, law->keys[i], &ret);
		if (isnan(v[i]) && law->optional > 0 && !law->keys[i + 1])
			v[i] = law->optional;
		if (!ret && isnan(v[i]))
			ret = net_dist_expect(a, law->form);
	}
	return ret ? ret : net_dist_placed(a, law->make(d, v, &why), &why);
}

static const struct {
	const char *name;
	int (*read)(struct arguments *a, struct dist *d);
} kinds[] = {
	{ "exponential", read_exponential },
	{ "erlang", read_erlang },
	{ "gamma", read_gamma },
	{ "hyperexponential", read_hyperexponential },
	{ "lognormal", read_lognormal },
	{ "empirical", read_empirical },
	{ "histogram", read_histogram },
	{ "map", read_map },
	{ "mmpp", read_mmpp },
};

int net_read_dist(struct net_reader *r, const struct yaml_node *node, struct dist *d)
{
	struct arguments a = { .r = r };
	const struct dist_law *law;

	if (node->kind != YAML_MAP || node->nr != 1)
		return yaml_tree_error(r->tree, node, r->err,
				       "expected one distribution, as in {exponential: {mean: 1}}");
	a.node = node->items[0];
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, a.node->key))
			continue;
		dist_release(d);
		return kinds[i].read(&a, d);
	}
	law = dist_law_find(a.node->key);
	if (law) {
		dist_release(d);
		return read_law(&a, d, law);
	}
	return yaml_tree_error(
		r->tree, a.node, r->err,
		"no distribution \"%s\": expected deterministic, exponential, erlang, "
		"gamma, hyperexponential, lognormal, normal, cut_normal, uniform, weibull, beta, "
		"chi_square, logarithmic, hyperbolic, exponential_power, student_t, von_mises, "
		"breit_wigner, breit_wigner_mean_square, empirical, histogram, map or mmpp",
		a.node->key);
}
