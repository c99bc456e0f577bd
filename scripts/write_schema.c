// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the JSON Schema of one kind of file, as its reader's table has it:
 *
 *	write_schema		the names of the schemas, one a line
 *	write_schema NAME	docs/NAME.schema.json on standard output
 *
 * `make schemas` runs it for each; tests/cli/schemas.sh compares the files with what it prints.
 */
#include <stdio.h>
#include <string.h>

#include "agent/config.h"
#include "analyzer/characterize/time_objective.h"
#include "analyzer/measure/plan.h"
#include "analyzer/models/arch/arch_read.h"
#include "analyzer/models/net/net.h"
#include "analyzer/models/storage/device/device_model.h"
#include "analyzer/models/storage/net/storage_model.h"
#include "analyzer/store/ask/store_policy.h"
#include "analyzer/whatif/scenario/scenario.h"
#include "base/data/fields_schema.h"

static const struct {
	const char *name;
	const struct fields *table;
} schemas[] = {
	{ "agent", &config_table },
	{ "arch", &arch_table },
	{ "model-device", &device_model_table },
	{ "model-qpn", &storage_model_table },
	{ "objectives", &time_objectives_table },
	{ "plan", &plan_table },
	{ "policy", &store_policies_table },
	{ "qpn", &net_table },
	{ "scenario", &scenario_table },
};

static int print_schema(const struct fields *table)
{
	json_t *schema = fields_schema(table);
	int ret =
		schema ? json_dumpf(schema, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : -1;

	json_decref(schema);
	return ret || putchar('\n') == EOF || fflush(stdout);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(schemas) / sizeof(*schemas); i++) {
		if (argc < 2)
			puts(schemas[i].name);
		else if (!strcmp(argv[1], schemas[i].name))
			return print_schema(schemas[i].table);
	}
	if (argc < 2)
		return 0;
	fprintf(stderr, "write_schema: no schema \"%s\"; without arguments it lists them\n",
		argv[1]);
	return 2;
}
