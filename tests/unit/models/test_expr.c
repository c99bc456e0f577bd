// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "analyzer/models/net/expr.h"
#include "tests/support/tap.h"

static struct expr_scope scope;
static struct err err;

static double value(const char *text)
{
	double v = -12345;

	err = (struct err){ 0 };
	if (expr_value(&scope, text, &v, &err))
		tap_note("%s", err.line);
	return v;
}

static void arithmetic(void)
{
	ok_near(value("1 + 2*3 - 4/2"), 5, 0);
	ok_near(value("2^3^2"), 512, 0);
	ok_near(value("-2^2"), -4, 0);
	ok_near(value("2^-1"), 0.5, 0);
	ok_near(value("(1+2)*-3"), -9, 0);
	ok_near(value("max(2, min(7, 5)) + sqrt(16) + abs(-1) + floor(1.5) + ceil(1.5)"), 13, 0);
	ok_near(value("ln(exp(2)) + round(2.4)"), 4, 1e-15);
	ok_near(value("10ms + 4k"), 4096.01, 1e-12);
	ok_near(value(".5 + 5."), 5.5, 0);
	ok_near(value("min(1/0, 5) + max(2, ln(0))"), 7, 0);
}

static void parameters(void)
{
	ok_int(expr_set(&scope, "clients", 50), 0);
	ok_int(expr_set(&scope, "clients", 60), 0);
	ok_int(expr_set(&scope, "max", 1), -EINVAL);
	ok_int(expr_set(&scope, "2x", 1), -EINVAL);
	ok(!expr_find(&scope, "clients")->used);
	ok_near(value("clients / 2"), 30, 0);
	ok(expr_find(&scope, "clients")->used);
	expr_scope_release(&scope);
}

static void refusals(void)
{
	static const char *const bad[] = {
		"",	  "1 +",	 "(1",	     "1 2",	  "client",	   "1/0",
		"ln(-1)", "0x10",	 "5 apples", "1parsec",	  "min(1)",	   "nan",
		"inf",	  "1e999",	 "10 ms",    "4KiB",	  "7 % 2",	   "1 < 2",
		"true",	  "1 /* one */", "Exp(2)",   "Max(1, 2)", "1 < 2 ? 3 : 4", "IntPMF[(1;1)]",
		"'text'"
	};
	double v;

	for (size_t i = 0; i < TAP_NR(bad); i++)
		ok_int(expr_value(&scope, bad[i], &v, &err), -EINVAL);
	ok_int(expr_value(&scope, "1 + foo", &v, &err), -EINVAL);
	ok_str(err.line, "\"1 + foo\": no parameter of this name at \"foo\"");
}

static const struct tap_test tests[] = {
	{ "arithmetic has the usual precedence", arithmetic },
	{ "parameters are found, changed and marked", parameters },
	{ "what has no value is refused", refusals },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
