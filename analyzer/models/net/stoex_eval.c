// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/models/net/stoex_tree.h"

/* This struct is the state of one evaluation, which keeps the first error. */
struct eval {
	const struct stoex *e;
	const struct stoex_scope *s;
	struct err *err;
};

static int stoex_eval_fail(const struct eval *v, int code, const char *what)
{
	return err_set(v->err, code, "\"%.200s\": %s", v->e->text, what);
}

static const char *type_name(enum stoex_type t)
{
	static const char *const names[] = { "a whole number", "a number", "a truth value",
					     "a text" };

	return names[t];
}

static bool is_number(struct stoex_value v)
{
	return v.type == STOEX_INT || v.type == STOEX_DOUBLE;
}

static double as_double(struct stoex_value v)
{
	return v.type == STOEX_INT ? (double)v.i : v.d;
}

static struct stoex_value stoex_eval_real(double d)
{
	return (struct stoex_value){ .type = STOEX_DOUBLE, .d = d };
}

static struct stoex_value stoex_eval_truth(bool b)
{
	return (struct stoex_value){ .type = STOEX_BOOL, .b = b };
}

/*
 * Returns a whole number in Palladio's dialect, and a real number without a fraction in the other
 * dialect.
 */
static int stoex_eval_whole(const struct eval *v, double d, struct stoex_value *out)
{
	if (!(fabs(d) < 0x1p62))
		return stoex_eval_fail(v, ERANGE, "a whole number out of range");
	*out = v->e->dialect == STOEX_PALLADIO
		       ? (struct stoex_value){ .type = STOEX_INT, .i = (int64_t)d }
		       : stoex_eval_real(d);
	return 0;
}

static int whole_arithmetic(const struct eval *v, enum stoex_op op, int64_t a, int64_t b,
			    struct stoex_value *out)
{
	bool over = false;

	out->type = STOEX_INT;
	if ((op == OP_DIV || op == OP_MOD) && (b == 0 || (a == INT64_MIN && b == -1)))
		return stoex_eval_fail(v, ERANGE, "division by zero");
	switch (op) {
	case OP_ADD:
		over = __builtin_add_overflow(a, b, &out->i);
		break;
	case OP_SUB:
		over = __builtin_sub_overflow(a, b, &out->i);
		break;
	case OP_MUL:
		over = __builtin_mul_overflow(a, b, &out->i);
		break;
	case OP_DIV:
		out->i = a / b;
		break;
	default:
		out->i = a % b;
		break;
	}
	return over ? stoex_eval_fail(v, ERANGE, "a whole number out of range") : 0;
}

static int stoex_eval_arithmetic(const struct eval *v, enum stoex_op op, struct stoex_value a,
				 struct stoex_value b, struct stoex_value *out)
{
	double x, y, z;

	if (!is_number(a) || !is_number(b))
		return err_set(v->err, EINVAL, "\"%.200s\": cannot compute with %s and %s",
			       v->e->text, type_name(a.type), type_name(b.type));
	if (a.type == STOEX_INT && b.type == STOEX_INT && op != OP_POW)
		return whole_arithmetic(v, op, a.i, b.i, out);
	x = as_double(a);
	y = as_double(b);
	if (op == OP_ADD)
		z = x + y;
	else if (op == OP_SUB)
		z = x - y;
	else if (op == OP_MUL)
		z = x * y;
	else if (op == OP_DIV)
		z = x / y;
	else if (op == OP_MOD)
		z = fmod(x, y);
	else
		z = pow(x, y);
	if (!isfinite(z) && v->e->dialect != STOEX_ARITHMETIC)
		return stoex_eval_fail(v, ERANGE,
				       y == 0 && op != OP_POW ? "division by zero"
							      : "no finite number");
	*out = stoex_eval_real(z);
	return 0;
}

static int stoex_eval_compare(const struct eval *v, enum stoex_op op, struct stoex_value a,
			      struct stoex_value b, struct stoex_value *out)
{
	int order;

	if (is_number(a) && is_number(b)) {
		double x = as_double(a), y = as_double(b);

		order = (x > y) - (x < y);
	} else if (a.type == b.type && a.type == STOEX_BOOL) {
		order = (int)a.b - (int)b.b;
	} else if (a.type == b.type) {
		order = strcmp(v->e->names->items[a.text], v->e->names->items[b.text]);
	} else {
		return err_set(v->err, EINVAL, "\"%.200s\": cannot compare %s with %s", v->e->text,
			       type_name(a.type), type_name(b.type));
	}
	*out = stoex_eval_truth(op == OP_LESS		 ? order < 0
				: op == OP_LESS_EQUAL	 ? order <= 0
				: op == OP_GREATER	 ? order > 0
				: op == OP_GREATER_EQUAL ? order >= 0
				: op == OP_EQUAL	 ? order == 0
							 : order != 0);
	return 0;
}

/*
 * Draws by halving, which is exact and needs O(log n) draws (Ahrens and Dieter, Computer Methods
 * for Sampling from Gamma, Beta, Poisson and Binomial Distributions, Computing 12, 1974).
 */
static double stoex_eval_binomial(struct rng *r, double n, double p)
{
	double k = 0;

	while (n > 40 && p > 0 && p < 1) {
		double a = 1 + floor(n / 2), b = n + 1 - a;
		double g = rng_gamma(r, a), x = g / (g + rng_gamma(r, b));

		if (x >= p) {
			n = a - 1;
			p /= x;
		} else {
			k += a;
			n = b - 1;
			p = (p - x) / (1 - x);
		}
	}
	if (!(p > 0 && p < 1)) /* these values need no draw, however large n is */
		return p > 0 ? k + n : k;
	for (; n > 0; n--)
		k += rng_uniform(r) < p;
	return k;
}

/*
 * Draws by gamma-distributed times of the 7/8 mean-th event (Ahrens and Dieter, Computer Methods
 * for Sampling from Gamma, Beta, Poisson and Binomial Distributions, Computing 12, 1974).
 */
static double stoex_eval_poisson(struct rng *r, double mean)
{
	double k = 0, time = 0;

	while (mean > 30) {
		double m = floor(mean * 7 / 8), x = rng_gamma(r, m);

		if (x > mean)
			return k + stoex_eval_binomial(r, m - 1, mean / x);
		k += m;
		mean -= x;
	}
	for (time = rng_exponential(r); time < mean; time += rng_exponential(r))
		k++;
	return k;
}

/* Draws from UniDouble or UniInt between two bounds. */
static int stoex_eval_uniform(const struct eval *v, enum stoex_function f, double low, double high,
			      struct stoex_value *out)
{
	struct rng *r = v->s->rng;

	if (!(low <= high))
		return stoex_eval_fail(v, EINVAL,
				       "the bounds of a uniform distribution must not fall");
	if (f == FN_UNI_DOUBLE) {
		*out = stoex_eval_real(low + (high - low) * rng_uniform(r));
		return 0;
	}
	if (!(high - low < 0x1p53))
		return stoex_eval_fail(v, EINVAL, "the range of UniInt is too large");
	return stoex_eval_whole(v, low + (double)rng_below(r, (uint64_t)(high - low) + 1), out);
}

static int stoex_eval_draw(const struct eval *v, enum stoex_function f, const double *a,
			   struct stoex_value *out)
{
	struct rng *r = v->s->rng;
	double s2;

	switch (f) {
	case FN_EXP:
		if (!(a[0] > 0))
			return stoex_eval_fail(v, EINVAL, "the rate of Exp must be above 0");
		*out = stoex_eval_real(rng_exponential(r) / a[0]);
		return 0;
	case FN_NORM:
		if (!(a[1] >= 0))
			return stoex_eval_fail(
				v, EINVAL, "the standard deviation of Norm must not be below 0");
		*out = stoex_eval_real(a[0] + a[1] * rng_normal(r));
		return 0;
	case FN_UNI_DOUBLE:
	case FN_UNI_INT:
		return stoex_eval_uniform(v, f, a[0], a[1], out);
	case FN_POIS:
		if (!(a[0] >= 0 && a[0] < 1e15))
			return stoex_eval_fail(v, EINVAL, "the mean of Pois must be in 0..1e15");
		return stoex_eval_whole(v, stoex_eval_poisson(r, a[0]), out);
	case FN_BINOM:
		if (!(a[0] >= 0 && a[0] < 0x1p53 && a[0] == floor(a[0]) && a[1] >= 0 && a[1] <= 1))
			return stoex_eval_fail(v, EINVAL,
					       "Binom takes a whole number and a probability");
		return stoex_eval_whole(v, stoex_eval_binomial(r, a[0], a[1]), out);
	case FN_LOGNORM:
	case FN_LOGNORM_MOMENTS:
		if (!(a[1] >= 0) || (f == FN_LOGNORM_MOMENTS && !(a[0] > 0)))
			return stoex_eval_fail(v, EINVAL,
					       "impossible parameters of a lognormal distribution");
		if (f == FN_LOGNORM) {
			*out = stoex_eval_real(exp(a[0] + a[1] * rng_normal(r)));
			return 0;
		}
		s2 = log1p(a[1] * a[1] / (a[0] * a[0]));
		*out = stoex_eval_real(exp(log(a[0]) - s2 / 2 + sqrt(s2) * rng_normal(r)));
		return 0;
	default:
		if (!(a[0] > 0 && a[1] > 0))
			return stoex_eval_fail(
				v, EINVAL,
				"the parameters of a gamma distribution must be above 0");
		/* The shape is 1 / cv^2, and the scale is mean * cv^2. */
		s2 = f == FN_GAMMA_MOMENTS ? 1 / (a[1] * a[1]) : a[0];
		*out = stoex_eval_real(rng_gamma(r, s2) *
				       (f == FN_GAMMA_MOMENTS ? a[0] / s2 : a[1]));
		return 0;
	}
}

static int stoex_eval_function(const struct eval *v, const struct stoex_node *n,
			       const struct stoex_value *args, struct stoex_value *out)
{
	double a[STOEX_MAX_ARGUMENTS] = { 0 }, least;
	int ret;

	if (args[0].type == STOEX_TEXT &&
	    (n->function == FN_MIN_DEVIATION || n->function == FN_MAX_DEVIATION)) {
		*out = args[0];
		return 0;
	}
	for (uint32_t i = 0; i < n->nr_args; i++) {
		if (!is_number(args[i]))
			return err_set(v->err, EINVAL, "\"%.200s\": a function of numbers got %s",
				       v->e->text, type_name(args[i].type));
		a[i] = as_double(args[i]);
	}
	switch (n->function) {
	case FN_REAL:
		*out = stoex_eval_real(n->nr_args == 1 ? n->one(a[0]) : n->two(a[0], a[1]));
		return 0;
	case FN_ROUND:
		return stoex_eval_whole(v, floor(a[0] + 0.5), out);
	case FN_TRUNC:
		return stoex_eval_whole(v, floor(a[0]), out);
	case FN_CEIL:
		return stoex_eval_whole(v, ceil(a[0]), out);
	case FN_SQRT:
		if (!(a[0] >= 0))
			return stoex_eval_fail(v, ERANGE, "the root of a number below 0");
		*out = stoex_eval_real(sqrt(a[0]));
		return 0;
	case FN_LOG:
		if (!(a[0] > 0 && a[1] > 0 && a[0] != 1))
			return stoex_eval_fail(v, ERANGE, "an impossible logarithm");
		*out = stoex_eval_real(log(a[1]) / log(a[0]));
		return 0;
	case FN_MIN:
		*out = a[0] <= a[1] ? args[0] : args[1];
		return 0;
	case FN_MAX:
		*out = a[0] >= a[1] ? args[0] : args[1];
		return 0;
	case FN_MIN_DEVIATION:
	case FN_MAX_DEVIATION:
		least = fmax(a[1], a[0] * a[2]);
		least = n->function == FN_MIN_DEVIATION ? floor(a[0] - least) : ceil(a[0] + least);
		if (args[0].type == STOEX_INT)
			return stoex_eval_whole(v, least, out);
		*out = stoex_eval_real(least);
		return 0;
	default:
		ret = stoex_eval_draw(v, n->function, a, out);
		if (ret || out->type != STOEX_DOUBLE || isfinite(out->d))
			return ret;
		return stoex_eval_fail(v, ERANGE, "a draw that is no finite number");
	}
}

static int stoex_eval_sample(const struct eval *v, const struct stoex_node *n,
			     struct stoex_value *out)
{
	const struct stoex_sample *s = &v->e->samples[n->first];
	double u = rng_uniform(v->s->rng), low, from;
	uint32_t a = 0, b = n->nr - 1;

	while (a < b) {
		uint32_t m = (a + b) / 2;

		if (u < s[m].cumulative)
			b = m;
		else
			a = m + 1;
	}
	if (n->op == OP_PMF) {
		*out = s[a].value;
		if (out->type == STOEX_INT && v->e->dialect == STOEX_BLKCAST)
			*out = stoex_eval_real((double)out->i);
		return 0;
	}
	low = a ? s[a - 1].value.d : 0;
	from = a ? s[a - 1].cumulative : 0;
	*out = stoex_eval_real(low + (s[a].value.d - low) * (u - from) / (s[a].cumulative - from));
	return 0;
}

static int stoex_eval_logic(const struct eval *v, enum stoex_op op, struct stoex_value a,
			    struct stoex_value b, struct stoex_value *out)
{
	if (a.type != STOEX_BOOL || b.type != STOEX_BOOL)
		return stoex_eval_fail(v, EINVAL, "AND, OR, XOR and NOT take truth values");
	*out = stoex_eval_truth(op == OP_AND ? a.b && b.b : op == OP_OR ? a.b || b.b : a.b != b.b);
	return 0;
}

static int stoex_eval_variable(const struct eval *v, const struct stoex_node *n,
			       struct stoex_value *out)
{
	int ret = v->s && v->s->get ? v->s->get(v->s->ctx, n->variable, out, v->err) : -ENOENT;

	if (ret == -ENOENT)
		return err_set(v->err, ENOENT, "\"%.200s\": \"%s\" has no value here", v->e->text,
			       v->e->names->items[n->variable]);
	return ret;
}

int stoex_eval_node(const struct stoex *e, uint32_t node, const struct stoex_scope *s,
		    struct stoex_value *out, struct err *err)
{
	const struct stoex_node *n = &e->nodes[node];
	struct eval v = { e, s, err };
	struct stoex_value a[STOEX_MAX_ARGUMENTS];

	if (n->op == OP_VALUE) {
		*out = n->value;
		return 0;
	}
	if (n->op == OP_VARIABLE)
		return stoex_eval_variable(&v, n, out);
	if (n->op == OP_PMF || n->op == OP_PDF)
		return stoex_eval_sample(&v, n, out);
	for (uint32_t i = 0; i < n->nr_args; i++) {
		int ret;

		/* A choice evaluates only the branch that is taken. */
		if (n->op == OP_IF && i && (i == 1) != a[0].b)
			continue;
		ret = stoex_eval_node(e, n->args[i], s, &a[i], err);
		if (ret)
			return ret;
		if (n->op == OP_IF && !i && a[0].type != STOEX_BOOL)
			return stoex_eval_fail(&v, EINVAL, "a condition must be a truth value");
	}
	switch (n->op) {
	case OP_IF:
		*out = a[0].b ? a[1] : a[2];
		return 0;
	case OP_AND:
	case OP_OR:
	case OP_XOR:
		return stoex_eval_logic(&v, n->op, a[0], a[1], out);
	case OP_NOT:
		return stoex_eval_logic(&v, OP_XOR, a[0], stoex_eval_truth(true), out);
	case OP_NEGATE:
		if (e->dialect == STOEX_ARITHMETIC) { /* keeps the sign of a zero */
			*out = stoex_eval_real(-a[0].d);
			return 0;
		}
		return stoex_eval_arithmetic(&v, OP_SUB,
					     a[0].type == STOEX_INT
						     ? (struct stoex_value){ .type = STOEX_INT }
						     : stoex_eval_real(0),
					     a[0], out);
	case OP_FUNCTION:
		return stoex_eval_function(&v, n, a, out);
	default:
		return n->op >= OP_ADD ? stoex_eval_arithmetic(&v, n->op, a[0], a[1], out)
				       : stoex_eval_compare(&v, n->op, a[0], a[1], out);
	}
}

int stoex_eval(const struct stoex *e, const struct stoex_scope *s, struct stoex_value *v,
	       struct err *err)
{
	return stoex_eval_node(e, e->root, s, v, err);
}

int stoex_eval_number(const struct stoex *e, const struct stoex_scope *s, double *v,
		      struct err *err)
{
	struct stoex_value x;
	int ret = stoex_eval_node(e, e->root, s, &x, err);

	if (ret)
		return ret;
	if (!is_number(x))
		return err_set(err, EINVAL, "\"%.200s\": expected a number, got %s", e->text,
			       type_name(x.type));
	*v = as_double(x);
	return 0;
}

int stoex_eval_bool(const struct stoex *e, const struct stoex_scope *s, bool *v, struct err *err)
{
	struct stoex_value x;
	int ret = stoex_eval_node(e, e->root, s, &x, err);

	if (ret)
		return ret;
	if (x.type != STOEX_BOOL)
		return err_set(err, EINVAL, "\"%.200s\": expected a truth value, got %s", e->text,
			       type_name(x.type));
	*v = x.b;
	return 0;
}
