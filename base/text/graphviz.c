// SPDX-License-Identifier: Apache-2.0
#include "base/text/graphviz.h"

void graphviz_begin(FILE *out, const char *name, const char *settings)
{
	fprintf(out,
		"digraph %s {\n  %s\n  node [fontname=\"sans-serif\", fontsize=11];\n"
		"  edge [fontname=\"sans-serif\", fontsize=9];\n",
		name, settings);
}

void graphviz_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text == '\n' ? ' ' : *text, out);
	}
}

void graphviz_end_label(FILE *out)
{
	fputs("\"];\n", out);
}
