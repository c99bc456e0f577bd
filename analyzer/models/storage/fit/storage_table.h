/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_table: configurations of a storage system, measured or to be predicted, from a table as
 * docs/qpn-tables.md describes it. One row is a class of requests (VM, type, pattern, size) of one
 * configuration. The rows of one configuration were measured at the same time, and they are
 * adjacent in this table.
 */
#ifndef ANALYZER_STORAGE_TABLE_H
#define ANALYZER_STORAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/table.h"
#include "base/text/err.h"

/* These limit the clients of one row, and the VMs of one configuration. */
#define STORAGE_CLIENTS_MAX 100000
#define STORAGE_VMS_MAX	    32

/* COLUMN=VALUE lets only those rows through whose cell has this text. */
struct row_filter {
	const char *const *conditions;
	size_t nr;
};

/*
 * These are the request classes of Noorshams, Modeling and Prediction of I/O Performance in
 * Virtualized Environments, 2015, section 7.4: r_r, r_s, w_r, w_s.
 */
enum storage_class {
	STORAGE_RANDOM_READ,
	STORAGE_SEQUENTIAL_READ,
	STORAGE_RANDOM_WRITE,
	STORAGE_SEQUENTIAL_WRITE,
	STORAGE_NR_CLASSES,
};

/* This struct is a bucket of formats/histogram.h. */
struct storage_bucket {
	int bucket;
	uint64_t count;
};

struct storage_row {
	size_t row; /* index of the row in the table that was read */
	uint64_t line;
	size_t vm; /* number of the VM from 0, by first appearance in the configuration */
	bool write, sequential;
	double clients, size_bytes;
	double file_set_bytes;		  /* NaN means not given */
	double response_s, sd_s;	  /* NaN means not given */
	double throughput;		  /* requests per second; NaN means not given */
	struct storage_bucket *histogram; /* owned, in ascending order; NULL means not given */
	size_t nr_buckets;
};

struct storage_config {
	size_t begin, end; /* rows */
	size_t nr_vms;
};

struct storage_table {
	const char *source; /* borrowed from the table */
	struct storage_row *rows;
	size_t nr_rows;
	struct storage_config *configs; /* in the order of their first rows */
	size_t nr_configs;
};

/* These are columns that every row must have in addition to type, clients and size. */
#define STORAGE_NEEDS_RESPONSE 1u
#define STORAGE_NEEDS_FILE_SET 2u

/*
 * Reads the rows that the filter lets through (NULL: all rows). t must outlive s. Returns 0,
 * -EINVAL with file:line for a missing column, an impossible value or a class that occurs twice in
 * a configuration, or -ENOMEM.
 */
int storage_table_make(struct storage_table *s, const struct table *t, const struct row_filter *f,
		       unsigned int needs, struct err *err);
void storage_table_release(struct storage_table *s);

static inline enum storage_class storage_row_class(const struct storage_row *r)
{
	return (enum storage_class)(2 * r->write + r->sequential);
}
/* Returns the name of a class, "random reads" for example. */
const char *storage_class_name(enum storage_class c);

/*
 * This struct is a configuration of one class as a single VM would have it: clients and file sets
 * are added up.
 */
struct storage_load {
	enum storage_class class;
	double clients, size_bytes, file_set_bytes;
	/* mean over all requests: clients / throughput, by the interactive response-time law */
	double response_s;
};

/* Returns false if the rows of the configuration differ in type, pattern or size. */
bool storage_load_of(struct storage_load *l, const struct storage_table *s,
		     const struct storage_config *c);

/* Sets which rows of a table a filter lets through, for readers of plain tables. */
int row_filter_apply(bool *chosen, const struct table *t, const struct row_filter *f,
		     struct err *err);

#endif
