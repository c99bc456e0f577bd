/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a measurement table of storage models. What is taken is calibrated as far as it goes
 * without simulation; every refusal has a reason, and every model can be written and read.
 */
#include <stdlib.h>

#include "analyzer/models/storage/calibration/calibrate_cache.h"
#include "analyzer/models/storage/calibration/calibrate_hardware.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STORAGE_FUZZ_ROWS 200

static void write_storage_model(struct storage_model *m)
{
	struct storage_model again;
	struct err err = { 0 };
	json_t *root;

	if (storage_model_json(m, &root, &err) || storage_model_from_json(&again, root, &err))
		abort();
	storage_model_release(&again);
	storage_model_release(m);
	json_decref(root);
}

static void calibrate_fuzzed(const struct table *t, unsigned int needs)
{
	struct storage_table rows;
	struct storage_model m;
	struct err err = { 0 };

	if (storage_table_make(&rows, t, NULL, needs, &err)) {
		if (!err.line[0])
			abort();
		return;
	}
	if (needs & STORAGE_NEEDS_RESPONSE && rows.nr_rows <= STORAGE_FUZZ_ROWS) {
		int error = needs & STORAGE_NEEDS_FILE_SET ? calibrate_hardware(&m, &rows, &err)
							   : calibrate_cached(&m, &rows, 0, &err);

		if (!error)
			write_storage_model(&m);
		else if (!err.line[0])
			abort();
	}
	storage_table_release(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cache_model cache;
	struct err err = { 0 };
	struct table t;

	if (table_parse(&t, "fuzz", (const char *)data, size, &err)) {
		if (!err.line[0])
			abort();
		return 0;
	}
	for (unsigned int needs = 0; needs < 4; needs++)
		calibrate_fuzzed(&t, needs);
	err.line[0] = 0;
	if (t.nr_rows <= STORAGE_FUZZ_ROWS && calibrate_cache(&cache, &t, NULL, 0, &err) &&
	    !err.line[0])
		abort();
	table_release(&t);
	return 0;
}
