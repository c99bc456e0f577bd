/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stoex_tree: declares the tree that the parser of stochastic expressions makes and that the
 * evaluation walks. All others use stoex.h.
 */
#ifndef ANALYZER_STOEX_TREE_H
#define ANALYZER_STOEX_TREE_H

#include "analyzer/models/net/stoex.h"

#define STOEX_MAX_ARGUMENTS 3

enum stoex_op {
	OP_VALUE,
	OP_VARIABLE,
	OP_IF,
	OP_AND,
	OP_OR,
	OP_XOR,
	OP_NOT,
	OP_LESS,
	OP_LESS_EQUAL,
	OP_GREATER,
	OP_GREATER_EQUAL,
	OP_EQUAL,
	OP_NOT_EQUAL,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_POW,
	OP_NEGATE,
	OP_FUNCTION,
	OP_PMF, /* one of the values */
	OP_PDF, /* boxes */
};

enum stoex_function {
	FN_REAL, /* a function of the C library */
	FN_ROUND,
	FN_TRUNC,
	FN_CEIL,
	FN_SQRT,
	FN_LOG,
	FN_MIN,
	FN_MAX,
	FN_MIN_DEVIATION,
	FN_MAX_DEVIATION,
	FN_FIRST_RANDOM, /* this function and those after it draw random numbers */
	FN_EXP = FN_FIRST_RANDOM,
	FN_NORM,
	FN_UNI_DOUBLE,
	FN_UNI_INT,
	FN_POIS,
	FN_BINOM,
	FN_LOGNORM,
	FN_LOGNORM_MOMENTS,
	FN_GAMMA,
	FN_GAMMA_MOMENTS,
};

struct stoex_sample {
	struct stoex_value value; /* in a PDF: the upper bound, a double */
	double cumulative;
};

struct stoex_node {
	enum stoex_op op;
	enum stoex_function function;
	uint32_t args[STOEX_MAX_ARGUMENTS]; /* nodes, which all come before this one */
	uint32_t nr_args;
	union {
		struct stoex_value value;      /* for OP_VALUE */
		double (*one)(double);	       /* for FN_REAL with one argument */
		double (*two)(double, double); /* for FN_REAL with two arguments */
	};
	uint32_t variable;  /* for OP_VARIABLE */
	uint32_t first, nr; /* samples of a PMF or a PDF */
};

struct stoex {
	char *text; /* owned, as all below */
	struct stoex_node *nodes;
	uint32_t nr_nodes, root;
	size_t cap_nodes;
	struct stoex_sample *samples;
	uint32_t nr_samples;
	size_t cap_samples;
	uint32_t *variables; /* each variable once */
	size_t nr_variables;
	const struct stoex_names *names; /* borrowed */
	enum stoex_dialect dialect;
};

int stoex_eval_node(const struct stoex *e, uint32_t node, const struct stoex_scope *s,
		    struct stoex_value *v, struct err *err);

#endif
