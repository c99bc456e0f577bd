// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/stoex_lex.h"
#include "base/memory/array.h"

#define MAX_DEPTH 200
/* The evaluation of a long sum goes as deep as it has terms; this many need 1 MB of stack. */
#define MAX_NODES 10000

struct function {
	const char *name;
	enum stoex_function id;
	uint32_t nr_args;
	double (*one)(double); /* for FN_REAL, by the number of arguments */
	double (*two)(double, double);
};

static const struct function stochastic_functions[] = {
	{ .name = "Round", .id = FN_ROUND, .nr_args = 1 },
	{ .name = "Trunc", .id = FN_TRUNC, .nr_args = 1 },
	{ .name = "Ceil", .id = FN_CEIL, .nr_args = 1 },
	{ .name = "Sqrt", .id = FN_SQRT, .nr_args = 1 },
	{ .name = "Log", .id = FN_LOG, .nr_args = 2 },
	{ .name = "Min", .id = FN_MIN, .nr_args = 2 },
	{ .name = "Max", .id = FN_MAX, .nr_args = 2 },
	{ .name = "MinDeviation", .id = FN_MIN_DEVIATION, .nr_args = 3 },
	{ .name = "MaxDeviation", .id = FN_MAX_DEVIATION, .nr_args = 3 },
	{ .name = "Exp", .id = FN_EXP, .nr_args = 1 },
	{ .name = "Norm", .id = FN_NORM, .nr_args = 2 },
	{ .name = "UniDouble", .id = FN_UNI_DOUBLE, .nr_args = 2 },
	{ .name = "UniInt", .id = FN_UNI_INT, .nr_args = 2 },
	{ .name = "Pois", .id = FN_POIS, .nr_args = 1 },
	{ .name = "Binom", .id = FN_BINOM, .nr_args = 2 },
	{ .name = "Lognorm", .id = FN_LOGNORM, .nr_args = 2 },
	{ .name = "LognormMoments", .id = FN_LOGNORM_MOMENTS, .nr_args = 2 },
	{ .name = "Gamma", .id = FN_GAMMA, .nr_args = 2 },
	{ .name = "GammaMoments", .id = FN_GAMMA_MOMENTS, .nr_args = 2 },
	{ 0 },
};

static const struct function arithmetic_functions[] = {
	{ "min", FN_REAL, 2, .two = fmin },  { "max", FN_REAL, 2, .two = fmax },
	{ "sqrt", FN_REAL, 1, .one = sqrt }, { "exp", FN_REAL, 1, .one = exp },
	{ "ln", FN_REAL, 1, .one = log },    { "floor", FN_REAL, 1, .one = floor },
	{ "ceil", FN_REAL, 1, .one = ceil }, { "round", FN_REAL, 1, .one = round },
	{ "abs", FN_REAL, 1, .one = fabs },  { 0 },
};

static const struct function *stoex_parse_functions(enum stoex_dialect d)
{
	return d == STOEX_ARITHMETIC ? arithmetic_functions : stochastic_functions;
}

static uint32_t stoex_parse_expression(struct reader *r);
static uint32_t stoex_parse_operand(struct reader *r);
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

/* Adds a node, or its value where all its arguments are constants. */
static uint32_t stoex_parse_folded(struct reader *r, struct stoex_node n)
{
	struct stoex_value v;
	uint32_t i;

	if (r->error)
		return NONE;
	i = add_node(r, n);
	if (i == NONE || !can_fold(r->e, &n))
		return i;
	r->error = stoex_eval_node(r->e, i, NULL, &v, r->err);
	if (r->error)
		return NONE;
	r->e->nodes[i] = (struct stoex_node){ .op = OP_VALUE, .value = v };
	return i;
}

static uint32_t stoex_parse_make(struct reader *r, enum stoex_op op, uint32_t a, uint32_t b,
				 uint32_t c)
{
	uint32_t nr = op == OP_IF ? 3 : op == OP_NOT || op == OP_NEGATE ? 1 : 2;

	return stoex_parse_folded(
		r, (struct stoex_node){ .op = op, .args = { a, b, c }, .nr_args = nr });
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

	if (f->one)
		n.one = f->one;
	else if (f->two)
		n.two = f->two;

	lex_expect(r, "(");
	while (!r->error && n.nr_args < f->nr_args) {
		if (n.nr_args)
			lex_expect(r, ",");
		n.args[n.nr_args++] = stoex_parse_operand(r);
	}
	lex_expect(r, ")");
	return stoex_parse_folded(r, n);
}

/* Reads the expression for which a name stands, in place of the name. */
static uint32_t stoex_parse_bound(struct reader *r, const char *text)
{
	const char *after = r->at;
	uint32_t n;

	r->at = text;
	n = stoex_parse_expression(r);
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
	if (e->dialect == STOEX_ARITHMETIC) {
		n.variable = stoex_find_name(r->names, from, (size_t)(r->at - from));
		if (n.variable == NONE) {
			r->at = from;
			return lex_fail(r, "no parameter of this name");
		}
	} else {
		n.variable = stoex_name(r->names, from, (size_t)(r->at - from));
	}
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

/* Reads a truth value or a distribution in brackets. Returns false if none comes next. */
static bool stoex_parse_keyword(struct reader *r, uint32_t *node)
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
	struct stoex_value v = { .type = STOEX_BOOL, .b = lex_take_word(r, "true") };

	if (v.b || lex_take_word(r, "false")) {
		*node = stoex_parse_constant(r, v);
		return true;
	}
	for (size_t i = 0; i < sizeof(masses) / sizeof(*masses); i++) {
		if (!lex_take_word(r, masses[i].name))
			continue;
		*node = stoex_parse_mass(r, masses[i].op, masses[i].type);
		return true;
	}
	return false;
}

static uint32_t stoex_parse_word(struct reader *r)
{
	const char *from, *end;
	uint32_t node;

	if (r->e->dialect != STOEX_ARITHMETIC && stoex_parse_keyword(r, &node))
		return node;
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
	for (const struct function *f = stoex_parse_functions(r->e->dialect); f->name; f++)
		if (lex_take_word(r, f->name))
			return stoex_parse_call(r, f);
	return lex_fail(r, "an unknown function");
}

static uint32_t stoex_parse_atom(struct reader *r)
{
	uint32_t n;

	lex_skip(r);
	if (lex_take(r, "(")) {
		n = stoex_parse_expression(r);
		lex_expect(r, ")");
		return r->error ? NONE : n;
	}
	if (r->e->dialect != STOEX_ARITHMETIC && (*r->at == '"' || *r->at == '\'')) {
		struct stoex_value v = lex_text(r);

		return r->error ? NONE : stoex_parse_constant(r, v);
	}
	if (isdigit((unsigned char)*r->at) || *r->at == '.') {
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
	if (r->e->dialect != STOEX_ARITHMETIC && lex_take_word(r, "NOT"))
		n = stoex_parse_make(r, OP_NOT, stoex_parse_unary(r), NONE, NONE);
	else if (lex_take(r, "-"))
		n = stoex_parse_make(r, OP_NEGATE,
				     r->e->dialect == STOEX_PALLADIO ? stoex_parse_unary(r)
								     : stoex_parse_power(r),
				     NONE, NONE);
	else
		n = stoex_parse_atom(r);
	r->depth--;
	return n;
}

static uint32_t stoex_parse_power(struct reader *r)
{
	uint32_t a = stoex_parse_unary(r);

	if (r->error || !lex_take(r, "^"))
		return a;
	if (r->e->dialect == STOEX_PALLADIO)
		return stoex_parse_make(r, OP_POW, a, stoex_parse_unary(r), NONE);
	if (++r->depth > MAX_DEPTH)
		return lex_fail(r, "nested too deeply");
	a = stoex_parse_make(r, OP_POW, a, stoex_parse_power(r), NONE);
	r->depth--;
	return a;
}

static uint32_t stoex_parse_product(struct reader *r)
{
	uint32_t a = stoex_parse_power(r);

	while (!r->error) {
		if (lex_take(r, "*"))
			a = stoex_parse_make(r, OP_MUL, a, stoex_parse_power(r), NONE);
		else if (lex_take(r, "/"))
			a = stoex_parse_make(r, OP_DIV, a, stoex_parse_power(r), NONE);
		else if (r->e->dialect != STOEX_ARITHMETIC && lex_take(r, "%"))
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

/* Reads comparisons joined by OR and XOR, or by AND; level 1 joins what level 0 has joined. */
static uint32_t stoex_parse_joined(struct reader *r, unsigned level)
{
	bool conjunction = (level == 0) != (r->e->dialect == STOEX_PALLADIO);
	uint32_t a = level ? stoex_parse_joined(r, 0) : stoex_parse_comparison(r), b;
	enum stoex_op op;

	while (!r->error) {
		if (conjunction && lex_take_word(r, "AND"))
			op = OP_AND;
		else if (!conjunction && lex_take_word(r, "OR"))
			op = OP_OR;
		else if (!conjunction && lex_take_word(r, "XOR"))
			op = OP_XOR;
		else
			break;
		b = level ? stoex_parse_joined(r, 0) : stoex_parse_comparison(r);
		a = stoex_parse_make(r, op, a, b, NONE);
	}
	return a;
}

/* Reads an expression without a choice, as arguments of functions and branches of a choice are. */
static uint32_t stoex_parse_operand(struct reader *r)
{
	return r->e->dialect == STOEX_ARITHMETIC ? stoex_parse_sum(r) : stoex_parse_joined(r, 1);
}

static uint32_t stoex_parse_expression(struct reader *r)
{
	uint32_t a, b, c;

	if (r->error || ++r->depth > MAX_DEPTH)
		return lex_fail(r, "nested too deeply");
	a = stoex_parse_operand(r);
	if (!r->error && r->e->dialect != STOEX_ARITHMETIC && lex_take(r, "?")) {
		b = stoex_parse_operand(r);
		lex_expect(r, ":");
		c = r->error ? NONE : stoex_parse_operand(r);
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
	e->root = stoex_parse_expression(&r);
	lex_skip(&r);
	if (!r.error && *r.at)
		lex_fail(&r, "expected the end");
	if (r.error)
		stoex_free(e);
	else
		*out = e;
	return r.error;
}

bool stoex_is_function(enum stoex_dialect dialect, const char *name)
{
	for (const struct function *f = stoex_parse_functions(dialect); f->name; f++)
		if (!strcmp(f->name, name))
			return true;
	return false;
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
