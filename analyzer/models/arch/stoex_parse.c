// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/stoex_lex.h"
#include "base/array.h"

#define MAX_DEPTH 200
#define MAX_NODES 100000

static const struct function {
	const char *name;
	enum stoex_function id;
	uint32_t nr_args;
} functions[] = {
	{ "Round", FN_ROUND, 1 },
	{ "Trunc", FN_TRUNC, 1 },
	{ "Ceil", FN_CEIL, 1 },
	{ "Sqrt", FN_SQRT, 1 },
	{ "Log", FN_LOG, 2 },
	{ "Min", FN_MIN, 2 },
	{ "Max", FN_MAX, 2 },
	{ "MinDeviation", FN_MIN_DEVIATION, 3 },
	{ "MaxDeviation", FN_MAX_DEVIATION, 3 },
	{ "Exp", FN_EXP, 1 },
	{ "Norm", FN_NORM, 2 },
	{ "UniDouble", FN_UNI_DOUBLE, 2 },
	{ "UniInt", FN_UNI_INT, 2 },
	{ "Pois", FN_POIS, 1 },
	{ "Binom", FN_BINOM, 2 },
	{ "Lognorm", FN_LOGNORM, 2 },
	{ "LognormMoments", FN_LOGNORM_MOMENTS, 2 },
	{ "Gamma", FN_GAMMA, 2 },
	{ "GammaMoments", FN_GAMMA_MOMENTS, 2 },
};

static uint32_t if_else(struct reader *r);
static uint32_t stoex_parse_disjunction(struct reader *r);
static uint32_t stoex_parse_power(struct reader *r);

static uint32_t add_node(struct reader *r, struct stoex_node n)
{
	struct stoex *e = r->e;

	if (e->nr_nodes == MAX_NODES)
		return lex_fail(r, "too long");
	if (array_grow(&e->nodes, &e->cap_nodes, e->nr_nodes + 1, sizeof(*e->nodes)))
		return lex_no_memory(r);
	e->nodes[e->nr_nodes] = n;
	return e->nr_nodes++;
}

/* Returns true for nodes whose arguments are all constants and that draw nothing. */
static bool can_fold(const struct stoex *e, const struct stoex_node *n)
{
	if (n->op == OP_VARIABLE || n->op == OP_VALUE || n->op == OP_PMF || n->op == OP_PDF)
		return false;
	if (n->op == OP_FUNCTION && n->function >= FN_FIRST_RANDOM)
		return false;
	for (uint32_t i = 0; i < n->nr_args; i++)
		if (e->nodes[n->args[i]].op != OP_VALUE)
			return false;
	return true;
}

static uint32_t stoex_parse_make(struct reader *r, enum stoex_op op, uint32_t a, uint32_t b,
				 uint32_t c)
{
	uint32_t nr = op == OP_IF ? 3 : op == OP_NOT || op == OP_NEGATE ? 1 : 2;
	struct stoex_node n = { .op = op, .args = { a, b, c }, .nr_args = nr };
	uint32_t i;

	if (r->error)
		return NONE;
	i = add_node(r, n);
	if (i != NONE && can_fold(r->e, &r->e->nodes[i])) {
		struct stoex_value v;

		r->error = stoex_eval_node(r->e, i, NULL, &v, r->err);
		r->e->nodes[i] = (struct stoex_node){ .op = OP_VALUE, .value = v };
	}
	return r->error ? NONE : i;
}

static uint32_t stoex_parse_constant(struct reader *r, struct stoex_value v)
{
	return add_node(r, (struct stoex_node){ .op = OP_VALUE, .value = v });
}

static double as_double(struct stoex_value v)
{
	return v.type == STOEX_INT ? (double)v.i : v.d;
}

static struct stoex_value sample_value(struct reader *r, enum stoex_type type)
{
	struct stoex_value v = { .type = type };
	bool minus;

	lex_skip(r);
	if (type == STOEX_TEXT) {
		if (*r->at == '"' || *r->at == '\'')
			return lex_text(r);
		lex_fail(r, "expected a text in quotes");
		return v;
	}
	if (type == STOEX_BOOL) {
		v.b = lex_take_word(r, "true");
		if (!v.b && !lex_take_word(r, "false"))
			lex_fail(r, "expected true or false");
		return v;
	}
	minus = lex_take(r, "-");
	v = lex_number(r);
	if (type == STOEX_INT && v.type != STOEX_INT) {
		if (r->e->dialect == STOEX_PALLADIO || v.d != floor(v.d) || fabs(v.d) > 0x1p53) {
			lex_fail(r, "expected a whole number before");
			return v;
		}
		v = (struct stoex_value){ .type = STOEX_INT, .i = (int64_t)v.d };
	} else if (type == STOEX_DOUBLE) {
		v = (struct stoex_value){ .type = STOEX_DOUBLE, .d = as_double(v) };
	}
	if (minus && v.type == STOEX_INT)
		v.i = -v.i;
	else if (minus)
		v.d = -v.d;
	return v;
}

static int add_sample(struct reader *r, struct stoex_sample s)
{
	struct stoex *e = r->e;

	if (array_grow(&e->samples, &e->cap_samples, e->nr_samples + 1, sizeof(*e->samples))) {
		lex_no_memory(r);
		return r->error;
	}
	e->samples[e->nr_samples++] = s;
	return 0;
}

/* Reads "[(value;probability)...]" after the name. */
static uint32_t stoex_parse_mass(struct reader *r, enum stoex_op op, enum stoex_type type)
{
	struct stoex_node n = { .op = op, .first = r->e->nr_samples };
	double sum = 0, below = 0;

	if (lex_take(r, "(")) {
		if (!lex_take_word(r, "ordered"))
			lex_fail(r, "expected \"ordered\"");
		lex_expect(r, ")");
	}
	lex_expect(r, "[");
	while (!r->error && lex_take(r, "(")) {
		struct stoex_sample s = { .value = sample_value(r, type) };
		double p;

		lex_expect(r, ";");
		p = r->error ? 0 : as_double(lex_number(r));
		lex_expect(r, ")");
		if (op == OP_PDF && !r->error) {
			if (s.value.d < below)
				lex_fail(
					r,
					"the bounds of a DoublePDF must not fall, from 0 on, before");
			below = s.value.d;
		}
		s.cumulative = sum += p;
		if (r->error || add_sample(r, s))
			return NONE;
		n.nr++;
	}
	lex_expect(r, "]");
	if (!r->error && (!n.nr || fabs(sum - 1) > 1e-6))
		lex_fail(r, "the probabilities do not sum to 1 before");
	if (r->error)
		return NONE;
	for (uint32_t i = 0; i < n.nr; i++)
		r->e->samples[n.first + i].cumulative /= sum;
	return add_node(r, n);
}

static uint32_t stoex_parse_call(struct reader *r, const struct function *f)
{
	struct stoex_node n = { .op = OP_FUNCTION, .function = f->id };
	uint32_t i;

	lex_expect(r, "(");
	while (!r->error && n.nr_args < f->nr_args) {
		if (n.nr_args)
			lex_expect(r, ",");
		n.args[n.nr_args++] = stoex_parse_disjunction(r);
	}
	lex_expect(r, ")");
	if (r->error)
		return NONE;
	i = add_node(r, n);
	if (i != NONE && can_fold(r->e, &n)) {
		struct stoex_value v;

		r->error = stoex_eval_node(r->e, i, NULL, &v, r->err);
		r->e->nodes[i] = (struct stoex_node){ .op = OP_VALUE, .value = v };
	}
	return r->error ? NONE : i;
}

/* Reads the expression for which a name stands, in place of the name. */
static uint32_t stoex_parse_bound(struct reader *r, const char *text)
{
	const char *after = r->at;
	uint32_t n;

	r->at = text;
	n = if_else(r);
	lex_skip(r);
	if (!r->error && *r->at)
		lex_fail(r, "expected the end");
	r->at = after;
	return r->error ? NONE : n;
}

static uint32_t stoex_parse_variable(struct reader *r, const char *from)
{
	struct stoex *e = r->e;
	struct stoex_node n = { .op = OP_VARIABLE };
	uint32_t *more;

	while (*r->at == '.' && (isalpha((unsigned char)r->at[1]) || r->at[1] == '_')) {
		r->at++;
		while (lex_is_word(*r->at))
			r->at++;
	}
	n.variable = stoex_name(r->names, from, (size_t)(r->at - from));
	if (n.variable != NONE && r->names->bound[n.variable])
		return stoex_parse_bound(r, r->names->bound[n.variable]);
	more = reallocarray(e->variables, e->nr_variables + 1, sizeof(*more));
	if (!more || n.variable == NONE) {
		e->variables = more ? more : e->variables;
		return lex_no_memory(r);
	}
	e->variables = more;
	for (size_t i = 0; i < e->nr_variables; i++)
		if (more[i] == n.variable)
			return add_node(r, n);
	more[e->nr_variables++] = n.variable;
	return add_node(r, n);
}

static uint32_t stoex_parse_word(struct reader *r)
{
	static const struct {
		const char *name;
		enum stoex_op op;
		enum stoex_type type;
	} masses[] = {
		{ "IntPMF", OP_PMF, STOEX_INT },       { "DoublePMF", OP_PMF, STOEX_DOUBLE },
		{ "EnumPMF", OP_PMF, STOEX_TEXT },     { "BoolPMF", OP_PMF, STOEX_BOOL },
		{ "DoublePDF", OP_PDF, STOEX_DOUBLE },
	};
	const char *from, *end;

	if (lex_take_word(r, "true"))
		return stoex_parse_constant(r,
					    (struct stoex_value){ .type = STOEX_BOOL, .b = true });
	if (lex_take_word(r, "false"))
		return stoex_parse_constant(r,
					    (struct stoex_value){ .type = STOEX_BOOL, .b = false });
	for (size_t i = 0; i < sizeof(masses) / sizeof(*masses); i++)
		if (lex_take_word(r, masses[i].name))
			return stoex_parse_mass(r, masses[i].op, masses[i].type);
	from = r->at;
	while (lex_is_word(*r->at))
		r->at++;
	end = r->at;
	lex_skip(r);
	if (*r->at != '(') {
		r->at = end;
		return stoex_parse_variable(r, from);
	}
	r->at = from;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (lex_take_word(r, functions[i].name))
			return stoex_parse_call(r, &functions[i]);
	return lex_fail(r, "an unknown function");
}

static uint32_t stoex_parse_atom(struct reader *r)
{
	uint32_t n;

	lex_skip(r);
	if (lex_take(r, "(")) {
		n = if_else(r);
		lex_expect(r, ")");
		return r->error ? NONE : n;
	}
	if (*r->at == '"' || *r->at == '\'') {
		struct stoex_value v = lex_text(r);

		return r->error ? NONE : stoex_parse_constant(r, v);
	}
	if (isdigit((unsigned char)*r->at)) {
		struct stoex_value v = lex_number(r);

		return r->error ? NONE : stoex_parse_constant(r, v);
	}
	if (isalpha((unsigned char)*r->at) || *r->at == '_')
		return stoex_parse_word(r);
	return lex_fail(r, "expected a value");
}

static uint32_t stoex_parse_unary(struct reader *r)
{
	uint32_t n;

	if (r->error || ++r->depth > MAX_DEPTH)
		return lex_fail(r, "nested too deeply");
	if (lex_take_word(r, "NOT"))
		n = stoex_parse_make(r, OP_NOT, stoex_parse_unary(r), NONE, NONE);
	else if (lex_take(r, "-"))
		n = stoex_parse_make(r, OP_NEGATE,
				     r->e->dialect == STOEX_BLKCAST ? stoex_parse_power(r)
								    : stoex_parse_unary(r),
				     NONE, NONE);
	else
		n = stoex_parse_atom(r);
	r->depth--;
	return n;
}

static uint32_t stoex_parse_power(struct reader *r)
{
	uint32_t a = stoex_parse_unary(r);

	return !r->error && lex_take(r, "^")
		       ? stoex_parse_make(r, OP_POW, a, stoex_parse_unary(r), NONE)
		       : a;
}

static uint32_t stoex_parse_product(struct reader *r)
{
	uint32_t a = stoex_parse_power(r);

	while (!r->error) {
		if (lex_take(r, "*"))
			a = stoex_parse_make(r, OP_MUL, a, stoex_parse_power(r), NONE);
		else if (lex_take(r, "/"))
			a = stoex_parse_make(r, OP_DIV, a, stoex_parse_power(r), NONE);
		else if (lex_take(r, "%"))
			a = stoex_parse_make(r, OP_MOD, a, stoex_parse_power(r), NONE);
		else
			break;
	}
	return a;
}

static uint32_t stoex_parse_sum(struct reader *r)
{
	uint32_t a = stoex_parse_product(r);

	while (!r->error) {
		if (lex_take(r, "+"))
			a = stoex_parse_make(r, OP_ADD, a, stoex_parse_product(r), NONE);
		else if (lex_take(r, "-"))
			a = stoex_parse_make(r, OP_SUB, a, stoex_parse_product(r), NONE);
		else
			break;
	}
	return a;
}

static uint32_t stoex_parse_comparison(struct reader *r)
{
	static const struct {
		const char *mark;
		enum stoex_op op;
	} marks[] = {
		{ ">=", OP_GREATER_EQUAL }, { "<=", OP_LESS_EQUAL }, { "<>", OP_NOT_EQUAL },
		{ "==", OP_EQUAL },	    { ">", OP_GREATER },     { "<", OP_LESS },
	};
	uint32_t a = stoex_parse_sum(r);

	for (size_t i = 0; !r->error && i < sizeof(marks) / sizeof(*marks); i++)
		if (lex_take(r, marks[i].mark))
			return stoex_parse_make(r, marks[i].op, a, stoex_parse_sum(r), NONE);
	return a;
}

/*
 * Reads the level that binds more tightly: OR and XOR in Palladio's dialect, AND in the other
 * dialect.
 */
static uint32_t stoex_parse_tight(struct reader *r)
{
	uint32_t a = stoex_parse_comparison(r);

	while (!r->error) {
		if (r->e->dialect == STOEX_BLKCAST) {
			if (!lex_take_word(r, "AND"))
				break;
			a = stoex_parse_make(r, OP_AND, a, stoex_parse_comparison(r), NONE);
		} else if (lex_take_word(r, "OR")) {
			a = stoex_parse_make(r, OP_OR, a, stoex_parse_comparison(r), NONE);
		} else if (lex_take_word(r, "XOR")) {
			a = stoex_parse_make(r, OP_XOR, a, stoex_parse_comparison(r), NONE);
		} else {
			break;
		}
	}
	return a;
}

static uint32_t stoex_parse_disjunction(struct reader *r)
{
	uint32_t a = stoex_parse_tight(r);

	while (!r->error) {
		if (r->e->dialect == STOEX_PALLADIO) {
			if (!lex_take_word(r, "AND"))
				break;
			a = stoex_parse_make(r, OP_AND, a, stoex_parse_tight(r), NONE);
		} else if (lex_take_word(r, "OR")) {
			a = stoex_parse_make(r, OP_OR, a, stoex_parse_tight(r), NONE);
		} else if (lex_take_word(r, "XOR")) {
			a = stoex_parse_make(r, OP_XOR, a, stoex_parse_tight(r), NONE);
		} else {
			break;
		}
	}
	return a;
}

static uint32_t if_else(struct reader *r)
{
	uint32_t a, b, c;

	if (r->error || ++r->depth > MAX_DEPTH)
		return lex_fail(r, "nested too deeply");
	a = stoex_parse_disjunction(r);
	if (!r->error && lex_take(r, "?")) {
		b = stoex_parse_disjunction(r);
		lex_expect(r, ":");
		c = r->error ? NONE : stoex_parse_disjunction(r);
		a = stoex_parse_make(r, OP_IF, a, b, c);
	}
	r->depth--;
	return r->error ? NONE : a;
}

int stoex_parse(struct stoex **out, const char *text, enum stoex_dialect dialect,
		struct stoex_names *names, struct err *err)
{
	struct stoex *e = calloc(1, sizeof(*e));
	struct reader r = { .text = text, .at = text, .e = e, .names = names, .err = err };

	*out = NULL;
	if (e)
		e->text = strdup(text);
	if (!e || !e->text) {
		stoex_free(e);
		return err_set(err, ENOMEM, "out of memory");
	}
	e->dialect = dialect;
	e->names = names;
	e->root = if_else(&r);
	lex_skip(&r);
	if (!r.error && *r.at)
		lex_fail(&r, "expected the end");
	if (r.error)
		stoex_free(e);
	else
		*out = e;
	return r.error;
}

struct stoex *stoex_number(double value, struct stoex_names *names)
{
	struct stoex *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->dialect = STOEX_BLKCAST;
	e->names = names;
	e->text = strdup("");
	e->nodes = calloc(1, sizeof(*e->nodes));
	if (!e->text || !e->nodes) {
		stoex_free(e);
		return NULL;
	}
	e->nr_nodes = e->cap_nodes = 1;
	e->nodes[0].value = (struct stoex_value){ .type = STOEX_DOUBLE, .d = value };
	return e;
}

void stoex_free(struct stoex *e)
{
	if (!e)
		return;
	free(e->text);
	free(e->nodes);
	free(e->samples);
	free(e->variables);
	free(e);
}

bool stoex_is_constant(const struct stoex *e, double *value)
{
	const struct stoex_node *n = &e->nodes[e->root];

	if (n->op != OP_VALUE || n->value.type > STOEX_DOUBLE)
		return false;
	*value = as_double(n->value);
	return true;
}

bool stoex_is_random(const struct stoex *e)
{
	for (uint32_t i = 0; i < e->nr_nodes; i++)
		if (e->nodes[i].op == OP_PMF || e->nodes[i].op == OP_PDF ||
		    (e->nodes[i].op == OP_FUNCTION && e->nodes[i].function >= FN_FIRST_RANDOM))
			return true;
	return false;
}

const char *stoex_text(const struct stoex *e)
{
	return e->text;
}

size_t stoex_variables(const struct stoex *e, const uint32_t **vars)
{
	*vars = e->variables;
	return e->nr_variables;
}
