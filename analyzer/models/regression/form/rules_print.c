// SPDX-License-Identifier: Apache-2.0
/* This file writes rules as readable text and as C. */
#include <math.h>

#include "analyzer/models/regression/form/rules.h"

static void print_condition(const struct rules *r, const struct rule_condition *c,
			    const struct schema *s, struct buf *out)
{
	const struct variable *v = &s->variables[c->variable];
	bool first = true;

	if (!v->factor) {
		buf_printf(out, "%s %s %.6g", v->name, c->above ? ">" : "<=", c->cut);
		return;
	}
	buf_printf(out, "%s in {", v->name);
	for (size_t i = 0; i < v->nr_levels; i++) {
		if (!r->levels[c->levels_at + i])
			continue;
		buf_printf(out, "%s%s", first ? "" : ", ", v->levels[i]);
		first = false;
	}
	buf_printf(out, "}");
}

static void print_part(const struct rule_part *p, const struct schema *s, struct buf *out)
{
	const struct variable *v = &s->variables[p->column.variable];

	buf_printf(out, " %c %.6g ", signbit(p->coefficient) ? '-' : '+', fabs(p->coefficient));
	if (v->factor)
		buf_printf(out, "[%s = %s]", v->name, v->levels[p->column.level]);
	else
		buf_printf(out, "%s", v->name);
}

static void print_rule(const struct rules *r, const struct rule *rule, const struct schema *s,
		       struct buf *out)
{
	for (uint32_t k = 0; k < rule->nr_conditions; k++) {
		buf_printf(out, "%s", k ? " and " : "if ");
		print_condition(r, &r->conditions[rule->conditions_at + k], s, out);
	}
	buf_printf(out, "%s%s = %.6g", rule->nr_conditions ? "\n    " : "", s->response,
		   rule->constant);
	for (uint32_t k = 0; k < rule->nr_parts; k++) {
		const struct rule_part *p = &r->parts[rule->parts_at + k];

		print_part(p, s, out);
	}
	buf_printf(out, "   (%u rows; within %.6g to %.6g)\n", rule->nr_rows, rule->low,
		   rule->high);
}

void rules_print(const struct rules *r, const struct schema *s, struct buf *out)
{
	buf_printf(out, "The mean of the rules that hold%s; %.6g where none does.\n",
		   r->nr_sets > 1 ? " in a set, and of the sets" : "", r->fallback);
	for (size_t set = 0; set < r->nr_sets; set++) {
		if (r->nr_sets > 1)
			buf_printf(out, "set %zu:\n", set + 1);
		for (size_t i = rules_begin(r, set); i < r->ends[set]; i++)
			print_rule(r, &r->rules[i], s, out);
	}
}

static void export_condition(const struct rules *r, const struct rule_condition *c,
			     const struct schema *s, struct buf *out)
{
	const struct variable *v = &s->variables[c->variable];

	if (!v->factor) {
		buf_printf(out, "x[%u] %s %.17g", c->variable, c->above ? ">" : "<=", c->cut);
		return;
	}
	buf_printf(out, "(0");
	for (size_t i = 0; i < v->nr_levels; i++)
		if (r->levels[c->levels_at + i])
			buf_printf(out, " || x[%u] == %zu", c->variable, i);
	buf_printf(out, ")");
}

static void export_rule(const struct rules *r, const struct rule *rule, const struct schema *s,
			struct buf *out)
{
	buf_printf(out, "\tif (1");
	for (uint32_t k = 0; k < rule->nr_conditions; k++) {
		buf_printf(out, " && ");
		export_condition(r, &r->conditions[rule->conditions_at + k], s, out);
	}
	buf_printf(out, ") {\n\t\tv = %.17g;\n", rule->constant);
	for (uint32_t k = 0; k < rule->nr_parts; k++) {
		const struct rule_part *p = &r->parts[rule->parts_at + k];

		if (p->column.level < 0)
			buf_printf(out, "\t\tv += %.17g * x[%u];\n", p->coefficient,
				   p->column.variable);
		else
			buf_printf(out, "\t\tv += %.17g * (x[%u] == %d);\n", p->coefficient,
				   p->column.variable, p->column.level);
	}
	buf_printf(out, "\t\tv = v > %.17g ? %.17g : v;\n", rule->high, rule->high);
	buf_printf(out, "\t\tset += v < %.17g ? %.17g : v;\n\t\tnr++;\n\t}\n", rule->low,
		   rule->low);
}

void rules_export(const struct rules *r, const struct schema *s, struct buf *out)
{
	buf_printf(out, "\tdouble v, set;\n\tint nr;\n\n");
	for (size_t set = 0; set < r->nr_sets; set++) {
		buf_printf(out, "\tset = nr = 0;\n");
		for (size_t i = rules_begin(r, set); i < r->ends[set]; i++)
			export_rule(r, &r->rules[i], s, out);
		buf_printf(out, "\tsum += nr ? set / nr : %.17g;\n", r->fallback);
	}
	if (r->nr_sets > 1)
		buf_printf(out, "\tsum /= %zu;\n", r->nr_sets);
}
