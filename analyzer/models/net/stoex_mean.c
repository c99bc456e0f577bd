// SPDX-License-Identifier: Apache-2.0
/* Computes the mean of the values that an expression draws, if the mean has a closed form. */
#include <math.h>

#include "analyzer/models/net/stoex_tree.h"

/* This struct holds the mean, which is NaN if it is unknown, and a lower bound of all values. */
struct law {
	double mean, low;
};

static const struct law unknown = { NAN, -INFINITY };

static double stoex_mean_number(const struct stoex_value *v)
{
	return v->type == STOEX_INT ? (double)v->i : v->type == STOEX_DOUBLE ? v->d : NAN;
}

static bool stoex_mean_constant(const struct stoex *e, uint32_t node, double *v)
{
	const struct stoex_node *n = &e->nodes[node];

	*v = n->op == OP_VALUE ? stoex_mean_number(&n->value) : NAN;
	return isfinite(*v);
}

static struct law stoex_mean_drawn(const struct stoex *e, const struct stoex_node *n)
{
	double a[STOEX_MAX_ARGUMENTS] = { 0 };

	for (uint32_t i = 0; i < n->nr_args; i++)
		if (!stoex_mean_constant(e, n->args[i], &a[i]))
			return unknown;
	switch (n->function) {
	case FN_EXP:
		return (struct law){ 1 / a[0], 0 };
	case FN_UNI_INT:
		if (a[0] != floor(a[0]) || a[1] != floor(a[1]))
			return unknown;
		return (struct law){ (a[0] + a[1]) / 2, a[0] };
	case FN_UNI_DOUBLE:
		return (struct law){ (a[0] + a[1]) / 2, a[0] };
	case FN_POIS:
	case FN_LOGNORM_MOMENTS:
	case FN_GAMMA_MOMENTS:
		return (struct law){ a[0], 0 };
	case FN_BINOM:
	case FN_GAMMA:
		return (struct law){ a[0] * a[1], 0 };
	case FN_LOGNORM:
		return (struct law){ exp(a[0] + a[1] * a[1] / 2), 0 };
	default:
		return unknown;
	}
}

/* The values of a PDF are the upper ends of its boxes. */
static struct law stoex_mean_sampled(const struct stoex *e, const struct stoex_node *n)
{
	const struct stoex_sample *s = &e->samples[n->first];
	struct law out = { 0, INFINITY };
	double from = 0, below = 0;

	for (uint32_t i = 0; i < n->nr; i++) {
		double v = stoex_mean_number(&s[i].value),
		       until = i + 1 < n->nr ? s[i].cumulative : 1;
		double middle = n->op == OP_PDF ? (below + v) / 2 : v;

		out.mean += (until - from) * middle;
		out.low = fmin(out.low, n->op == OP_PDF ? fmin(below, v) : v);
		from = until;
		below = v;
	}
	return out;
}

static struct law law_of(const struct stoex *e, uint32_t node);

/* The operands are independent, because each draws its own random numbers. */
static struct law stoex_mean_combined(const struct stoex *e, const struct stoex_node *n)
{
	struct law a = law_of(e, n->args[0]), b = law_of(e, n->args[1]);
	double divisor;

	switch (n->op) {
	case OP_ADD:
		return (struct law){ a.mean + b.mean, a.low + b.low };
	case OP_MUL:
		return (struct law){ a.mean * b.mean,
				     a.low >= 0 && b.low >= 0 ? a.low * b.low : -INFINITY };
	case OP_DIV:
		/* The division of whole numbers truncates. */
		if (!stoex_mean_constant(e, n->args[1], &divisor) || !(divisor > 0) ||
		    e->nodes[n->args[1]].value.type == STOEX_INT)
			return unknown;
		return (struct law){ a.mean / divisor, a.low / divisor };
	default:
		return unknown;
	}
}

static struct law law_of(const struct stoex *e, uint32_t node)
{
	const struct stoex_node *n = &e->nodes[node];

	switch (n->op) {
	case OP_VALUE:
		return (struct law){ stoex_mean_number(&n->value), stoex_mean_number(&n->value) };
	case OP_PMF:
	case OP_PDF:
		return stoex_mean_sampled(e, n);
	case OP_FUNCTION:
		return stoex_mean_drawn(e, n);
	case OP_ADD:
	case OP_MUL:
	case OP_DIV:
		return stoex_mean_combined(e, n);
	default:
		return unknown;
	}
}

double stoex_mean(const struct stoex *e)
{
	struct law x = law_of(e, e->root);

	/* A mean below the lower bound comes from parameters that every draw would refuse. */
	return x.low >= 0 && x.mean >= x.low && isfinite(x.mean) ? x.mean : NAN;
}
