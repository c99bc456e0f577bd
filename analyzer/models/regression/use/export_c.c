// SPDX-License-Identifier: Apache-2.0
/* Exports a model as one C function that needs nothing but the language. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/models/regression/model.h"
#include "analyzer/models/regression/technique.h"

/* Writes a name from the header of a table so that the name cannot end the comment. */
static void comment_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		buf_put_u8(out, c < ' ' || c == '*' || c == '/' || c == '\\' || c == '?' ? '.' : c);
	}
}

static bool export_c_needs_math(const struct model *m)
{
	bool needs = m->schema.log || m->form == MODEL_GP;

	for (size_t i = 0; i < m->nr_members; i++)
		needs = needs || m->members[i].form == MODEL_GP;
	return needs;
}

static void export_c_head(const struct model *m, const char *name, struct buf *out)
{
	buf_printf(out, "/* %s model of ", m->technique->name);
	comment_text(out, m->schema.response);
	buf_printf(out, ", trained on %zu rows.\n", m->data.nr_rows);
	for (size_t v = 0; v < m->schema.nr; v++) {
		const struct variable *var = &m->schema.variables[v];

		buf_printf(out, " * x[%zu] ", v);
		comment_text(out, var->name);
		if (!var->factor)
			buf_printf(out, ", trained from %.17g to %.17g", var->low, var->high);
		for (size_t i = 0; i < var->nr_levels; i++) {
			buf_printf(out, "%s%zu = ", i ? ", " : ": ", i);
			comment_text(out, var->levels[i]);
		}
		buf_printf(out, "\n");
	}
	buf_printf(out, " */\n%sdouble %s(const double *x);\n\n",
		   export_c_needs_math(m) ? "#include <math.h>\n\n" : "", name);
}

static void export_c_array(struct buf *out, const char *name, const double *v, size_t nr)
{
	buf_printf(out, "static const double %s[%zu] = {", name, nr);
	for (size_t i = 0; i < nr; i++)
		buf_printf(out, "%s%.17g,", i % 4 ? " " : "\n\t", v[i]);
	buf_printf(out, "\n};\n");
}

/* Writes the loops of neighbours.c with the arrays of this model. */
static void export_c_neighbours(const struct neighbours *n, struct buf *out)
{
	export_c_array(out, "rows", n->rows, n->nr_rows * n->nr_vars);
	export_c_array(out, "shift", n->shift, n->nr_rows);
	export_c_array(out, "scale", n->scale, n->nr_vars);
	buf_printf(out,
		   "\nstatic double distance(const double *a, const double *b)\n{\n"
		   "\tdouble sum = 0;\n\n\tfor (int v = 0; v < %zu; v++) {\n"
		   "\t\tdouble d = a[v] > b[v] ? a[v] - b[v] : b[v] - a[v];\n\n"
		   "\t\tif (scale[v] < 0)\n\t\t\tsum += d != 0 ? -scale[v] : 0;\n"
		   "\t\telse\n\t\t\tsum += d * scale[v] < 1 ? d * scale[v] : 1;\n\t}\n"
		   "\t/* to a multiple of 1/16, halves to even */\n"
		   "\treturn (sum * 16 + 0x1.8p52 - 0x1.8p52) / 16;\n}\n\n",
		   n->nr_vars);
	buf_printf(out,
		   "static double correction(const double *x)\n{\n"
		   "\tdouble near[%u], sum = 0, weight = 0;\n\tint nr = 0;\n\n"
		   "\tfor (int i = 0; i < %zu; i++) {\n"
		   "\t\tdouble d = distance(x, rows + i * %zu);\n\t\tint at;\n\n"
		   "\t\tif (nr == %u && d >= near[nr - 1])\n\t\t\tcontinue;\n"
		   "\t\tat = nr < %u ? nr++ : nr - 1;\n"
		   "\t\tfor (; at && near[at - 1] > d; at--)\n\t\t\tnear[at] = near[at - 1];\n"
		   "\t\tnear[at] = d;\n\t}\n",
		   n->k, n->nr_rows, n->nr_vars, n->k, n->k);
	buf_printf(out,
		   "\tfor (int r = 0; r < nr; r++) {\n"
		   "\t\tdouble ties = 0, total = 0, w = 1 / (near[r] + 0.5);\n\n"
		   "\t\tfor (int i = 0; i < %zu; i++) {\n"
		   "\t\t\tif (distance(x, rows + i * %zu) == near[r]) {\n"
		   "\t\t\t\ttotal += shift[i];\n\t\t\t\tties++;\n\t\t\t}\n\t\t}\n"
		   "\t\tsum += w * total / ties;\n\t\tweight += w;\n\t}\n"
		   "\treturn sum / weight;\n}\n\n",
		   n->nr_rows, n->nr_vars);
}

/* Writes the prediction in the scale that was learned as a separate function. */
static void export_c_learned(const struct model *m, const char *name, struct buf *out)
{
	if (m->form == MODEL_GP) {
		gp_export(&m->gp, &m->schema, name, out);
		return;
	}
	if (m->neighbours.k)
		export_c_neighbours(&m->neighbours, out);
	buf_printf(out, "static double %s(const double *x)\n{\n\tdouble sum = 0;\n", name);
	if (m->form == MODEL_TERMS)
		terms_export(&m->terms, &m->schema, out);
	else if (m->form == MODEL_FOREST)
		forest_export(&m->forest, &m->schema, out);
	else
		rules_export(&m->rules, &m->schema, out);
	if (m->neighbours.k)
		buf_printf(out, "\tsum += correction(x);\n");
	if (m->form == MODEL_TERMS)
		buf_printf(out,
			   "\tif (sum < %.17g)\n\t\tsum = %.17g;\n"
			   "\telse if (sum > %.17g)\n\t\tsum = %.17g;\n",
			   m->limits.low, m->limits.low, m->limits.high, m->limits.high);
	buf_printf(out, "\treturn sum;\n}\n\n");
}

int model_export_c(const struct model *m, const char *name, struct buf *out)
{
	char member[32];

	export_c_head(m, name, out);
	for (size_t i = 0; i < m->nr_members; i++) {
		snprintf(member, sizeof(member), "member_%zu", i + 1);
		export_c_learned(&m->members[i], member, out);
	}
	if (!m->nr_members)
		export_c_learned(m, "learned", out);
	buf_printf(out, "double %s(const double *x)\n{\n\tdouble sum = %s;\n\n", name,
		   m->nr_members ? "0" : "learned(x)");
	for (size_t i = 0; i < m->nr_members; i++)
		buf_printf(out, "\tsum += %.17g * member_%zu(x);\n", m->members[i].share, i + 1);
	buf_printf(out, "\treturn %s", m->schema.log ? "exp(sum)" : "sum");
	if (m->schema.offset.nr) {
		buf_printf(out, " * (");
		offset_export(&m->schema.offset, out);
		buf_printf(out, ")");
	}
	buf_printf(out, ";\n}\n");
	return out->error;
}
