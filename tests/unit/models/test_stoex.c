// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/models/net/stoex.h"
#include "base/memory/buf.h"
#include "tests/support/tap.h"

#define DRAWS 200000

static struct stoex_names names;

__attribute__((format(printf, 2, 3))) static void check(bool pass, const char *fmt, ...)
{
	char what[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	tap_ok(pass, what, __FILE__, __LINE__);
}

static int get(void *ctx, uint32_t name, struct stoex_value *v, struct err *err)
{
	(void)ctx;
	(void)err;
	if (strcmp(names.items[name], "list.INNER.VALUE"))
		return -ENOENT;
	*v = (struct stoex_value){ .type = STOEX_INT, .i = 7 };
	return 0;
}

static int value(const char *text, enum stoex_dialect d, struct stoex_value *v, struct err *err)
{
	struct rng r;
	struct stoex_scope s = { .get = get, .rng = &r };
	struct stoex *e;
	int error = stoex_parse(&e, text, d, &names, err);

	rng_seed(&r, 1);
	if (!error)
		error = stoex_eval(e, &s, v, err);
	stoex_free(e);
	return error;
}

static void is_int(const char *text, int64_t want)
{
	struct stoex_value v = { 0 };
	struct err err = { 0 };

	check(!value(text, STOEX_PALLADIO, &v, &err) && v.type == STOEX_INT && v.i == want,
	      "%s = %lld (%lld) %s", text, (long long)want, (long long)v.i, err.line);
}

static void is_real(const char *text, enum stoex_dialect d, double want)
{
	struct stoex_value v = { 0 };
	struct err err = { 0 };

	check(!value(text, d, &v, &err) && v.type == STOEX_DOUBLE &&
		      fabs(v.d - want) <= 1e-12 * fabs(want),
	      "%s = %g (%g) %s", text, want, v.d, err.line);
}

static void is_true(const char *text, enum stoex_dialect d, bool want)
{
	struct stoex_value v = { 0 };
	struct err err = { 0 };

	check(!value(text, d, &v, &err) && v.type == STOEX_BOOL && v.b == want, "%s = %s %s", text,
	      want ? "true" : "false", err.line);
}

static void refused(const char *text, enum stoex_dialect d, const char *line)
{
	struct stoex_value v;
	struct err err = { 0 };

	check(value(text, d, &v, &err) < 0 && strstr(err.line, line), "%s is refused: %s", text,
	      err.line);
}

/* Values of the reference simulator's own tests, and the grammar's peculiarities. */
static void palladio(void)
{
	is_real("10^3", STOEX_PALLADIO, 1000);
	is_real("10^-3", STOEX_PALLADIO, 0.001);
	is_real("-2^2", STOEX_PALLADIO, 4);
	is_int("25+15*10/1000", 25);
	is_real("25+15*10/1000.0", STOEX_PALLADIO, 25.15);
	is_int("7-2-1", 4);
	is_int("-7/2", -3);
	is_int("-7%3", -1);
	is_int("Round(2.5)", 3);
	is_int("Round(-2.5)", -2);
	is_int("Trunc(2.5)", 2);
	is_int("Ceil(2.1)", 3);
	is_int("MinDeviation(10,5.0,0.1)", 5);
	is_int("MinDeviation(10,5.0,0.6)", 4);
	is_int("MaxDeviation(10,5.0,0.1)", 15);
	is_int("MaxDeviation(10,5.0,0.6)", 16);
	is_real("Max(1.5,1)", STOEX_PALLADIO, 1.5);
	is_real("Sqrt(2.25)", STOEX_PALLADIO, 1.5);
	is_real("Log(2,8)", STOEX_PALLADIO, 3);
	is_int("list.INNER.VALUE  * 3 /* thrice */", 21);
	is_int("1 < 2 ? 3 : 4", 3);
	is_int("1 > 2 ? 3 : (2 > 1 ? 5 : 6)", 5);
	is_true("false AND false OR true", STOEX_PALLADIO, false);
	is_true("NOT false AND 1 <> 2", STOEX_PALLADIO, true);
	is_true("true XOR true", STOEX_PALLADIO, false);
	is_true("\"a\" == 'a'", STOEX_PALLADIO, true);
	is_true("1 == 1.0", STOEX_PALLADIO, true);
	refused("1 ? 2 : 3", STOEX_PALLADIO, "truth value");
	refused("1 > 2 ? 3 : 2 > 1 ? 5 : 6", STOEX_PALLADIO, "expected the end");
	refused("2^3^2", STOEX_PALLADIO, "expected the end");
	refused("1/0", STOEX_PALLADIO, "division by zero");
	refused("10ms", STOEX_PALLADIO, "expected the end");
	refused("9223372036854775807 + 1", STOEX_PALLADIO, "out of range");
}

static void ours(void)
{
	is_real("10ms + 2 s", STOEX_BLKCAST, 2.01);
	is_real("4k", STOEX_BLKCAST, 4096);
	is_real("1/4", STOEX_BLKCAST, 0.25);
	is_real("-2^2", STOEX_BLKCAST, -4);
	is_true("false AND false OR true", STOEX_BLKCAST, true);
	is_real("2^3^2", STOEX_BLKCAST, 512);
	refused("10parsecs", STOEX_BLKCAST, "expected a unit");
}

/* Writes a chain of nr terms "list.INNER.VALUE" that an operator joins. */
static void chain(const char *op, size_t nr, const char *line)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < nr; i++)
		buf_printf(&text, "%slist.INNER.VALUE", i ? op : "1*");
	if (line)
		refused((char *)text.data, STOEX_BLKCAST, line);
	else
		is_real((char *)text.data, STOEX_BLKCAST, 7 * (double)nr);
	buf_release(&text);
}

/* A hostile expression must not exhaust the stack of the parser or of the evaluation. */
static void long_chains(void)
{
	chain("+", 4000, NULL);
	chain("+", 60000, "too long");
	chain("^", 60000, "nested too deeply");
}

static void bad(void)
{
	refused("", STOEX_PALLADIO, "expected a value at its end");
	refused("1 +", STOEX_PALLADIO, "expected a value at its end");
	refused("unknown.VALUE", STOEX_PALLADIO, "has no value here");
	refused("Foo(1)", STOEX_PALLADIO, "unknown function");
	refused("Norm(1)", STOEX_PALLADIO, "expected ,");
	refused("IntPMF[(1;0.5)(2;0.4)]", STOEX_PALLADIO, "do not sum to 1");
	refused("IntPMF[]", STOEX_PALLADIO, "do not sum to 1");
	refused("DoublePDF[(2;0.5)(1;0.5)]", STOEX_PALLADIO, "must not fall");
	refused("Exp(0)", STOEX_PALLADIO, "above 0");
	refused("1e999", STOEX_BLKCAST, "out of range");
	refused("\"a\" + 1", STOEX_PALLADIO, "cannot compute");
	refused("true < 1", STOEX_PALLADIO, "cannot compare");
	refused("'unclosed", STOEX_PALLADIO, "quotes");
}

/* Mean and variance within five standard errors of the closed forms. */
static void moments(const char *text, double mean, double variance)
{
	double sum = 0, squares = 0, m, v;
	struct rng r;
	struct stoex_scope s = { .rng = &r };
	struct stoex *e;
	int error = stoex_parse(&e, text, STOEX_PALLADIO, &names, NULL);

	rng_seed(&r, 42);
	for (int i = 0; !error && i < DRAWS; i++) {
		double x = 0;

		error = stoex_eval_number(e, &s, &x, NULL);
		sum += x - mean;
		squares += (x - mean) * (x - mean);
	}
	m = sum / DRAWS;
	v = squares / DRAWS;
	check(!error && fabs(m) <= 5 * sqrt(variance / DRAWS) &&
		      fabs(v - variance) <= 0.05 * variance,
	      "%s: mean %g (off by %g), variance %g (%g)", text, mean, m, variance, v);
	stoex_free(e);
}

static void distributions(void)
{
	moments("Exp(4)", 0.25, 0.0625);
	moments("Norm(3, 2)", 3, 4);
	moments("UniDouble(1, 4)", 2.5, 0.75);
	moments("UniInt(1, 6)", 3.5, 35. / 12);
	moments("Pois(3.5)", 3.5, 3.5);
	moments("Pois(1000)", 1000, 1000);
	moments("Binom(10, 0.3)", 3, 2.1);
	moments("Binom(1000, 0.3)", 300, 210);
	moments("Binom(5000000000, 1)", 5e9, 0); /* at once, not one trial after another */
	moments("Binom(5000000000, 0)", 0, 0);
	moments("Lognorm(0.5, 0.4)", exp(0.58), exp(1.16) * (exp(0.16) - 1));
	moments("LognormMoments(10, 2)", 10, 4);
	moments("Gamma(2.5, 3)", 7.5, 22.5);
	moments("GammaMoments(10, 0.5)", 10, 25);
	moments("IntPMF[(1;0.25)(2;0.5)(5;0.25)]", 2.5, 2.25);
	moments("DoublePDF[(1.0;0.25)(2.0;0.5)(3.0;0.25)]", 1.5, 0.5 + 1. / 12);
	moments("DoublePMF[(1.2;0.5)(0.95;0.5)]", 1.075, 0.015625);
}

static void constants(void)
{
	struct stoex *e;
	const uint32_t *vars;
	double v = 0;

	stoex_parse(&e, "3 * (2 + 1.5)", STOEX_PALLADIO, &names, NULL);
	check(stoex_is_constant(e, &v) && v == 10.5, "what is constant is computed once");
	stoex_free(e);
	stoex_parse(&e, "a.VALUE + b.VALUE * a.VALUE", STOEX_PALLADIO, &names, NULL);
	check(!stoex_is_constant(e, &v) && stoex_variables(e, &vars) == 2,
	      "variables are listed once");
	stoex_free(e);
}

static const struct tap_test tests[] = {
	{ "Palladio's dialect gives its simulator's values", palladio },
	{ "ours has units and real numbers", ours },
	{ "long chains of terms are computed or refused", long_chains },
	{ "what is no expression is refused with what was expected", bad },
	{ "every distribution has its mean and variance", distributions },
	{ "constants and variables are known", constants },
};

int main(void)
{
	int status = tap_run(tests, TAP_NR(tests));

	stoex_names_release(&names);
	return status;
}
