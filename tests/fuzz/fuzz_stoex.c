/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a stochastic expression, in the dialect the first byte chooses. What is read is
 * evaluated some times, with every variable a number; it has a value or a line that says why not,
 * and its mean, where it has one, is a number that is not below 0. What is refused has a reason.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/stoex.h"

#define LONGEST 4096
#define DRAWS	20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int any_value(void *ctx, uint32_t name, struct stoex_value *v, struct err *err)
{
	(void)ctx;
	(void)err;
	*v = name % 3 ? (struct stoex_value){ .type = STOEX_DOUBLE, .d = name + 0.5 }
		      : (struct stoex_value){ .type = STOEX_INT, .i = name };
	return 0;
}

static void evaluate_some(const struct stoex *e)
{
	struct rng rng;
	struct stoex_scope scope = { .get = any_value, .rng = &rng };
	double mean = stoex_mean(e);

	if (!isnan(mean) && !(mean >= 0))
		abort();
	rng_seed(&rng, 1);
	for (int i = 0; i < DRAWS; i++) {
		struct err err = { 0 };
		struct stoex_value v;
		double d;

		if (stoex_eval(e, &scope, &v, &err) && !err.line[0])
			abort();
		err = (struct err){ 0 };
		if (!stoex_eval_number(e, &scope, &d, &err) && !isfinite(d))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stoex_names names = { .nr = 0 };
	struct stoex *e = NULL;
	struct err err = { 0 };
	char *text;

	if (!size || size > LONGEST)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	if (!text)
		abort();
	if (!stoex_parse(&e, text, *data & 1 ? STOEX_PALLADIO : STOEX_BLKCAST, &names, &err))
		evaluate_some(e);
	else if (!err.line[0])
		abort();
	stoex_free(e);
	stoex_names_release(&names);
	free(text);
	return 0;
}
