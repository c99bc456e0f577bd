/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_table: measured or asked configurations of a storage system, from a table as
 * docs/qpn-tables.md describes. One row is a class of requests (VM, type, pattern, size) of one
 * configuration; rows of a configuration ran together and stand together here.
 */
#ifndef ANALYZER_STORAGE_TABLE_H
#define ANALYZER_STORAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table.h"

/* Clients of one row and VMs of one configuration. */
#define STORAGE_CLIENTS_MAX 100000
#define STORAGE_VMS_MAX	    32

/* COLUMN=VALUE: only rows whose cell is this text. */
struct row_filter {
	const char *const *conditions;
	size_t nr;
};

/*
 * Request classes of Noorshams, Modeling and Prediction of I/O Performance in Virtualized
 * Environments, 2015, section 7.4: r_r, r_s, w_r, w_s.
 */
enum storage_class {
	STORAGE_RANDOM_READ,
	STORAGE_SEQUENTIAL_READ,
	STORAGE_RANDOM_WRITE,
	STORAGE_SEQUENTIAL_WRITE,
	STORAGE_NR_CLASSES,
};

/* A bucket of formats/histogram.h. */
struct storage_bucket {
	int bucket;
	uint64_t count;
};

struct storage_row {
	size_t row; /* of the table as read */
	uint64_t line;
	size_t vm; /* from 0, by first appearance in the configuration */
	bool write, sequential;
	double clients, size_bytes;
	double file_set_bytes;		  /* NaN: not given */
	double response_s, sd_s;	  /* NaN: not given */
	double throughput;		  /* per second; NaN: not given */
	struct storage_bucket *histogram; /* owned, ascending; NULL: not given */
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
	struct storage_config *configs; /* in order of their first rows */
	size_t nr_configs;
};

/* What every row must have beside type, clients and size. */
#define STORAGE_NEEDS_RESPONSE 1u
#define STORAGE_NEEDS_FILE_SET 2u

/*
 * Reads the rows that the filter lets through (NULL: all). t must outlive it. -EINVAL with
 * file:line for a missing column, an impossible value or a class twice in a configuration; -ENOMEM.
 */
int storage_table_make(struct storage_table *s, const struct table *t, const struct row_filter *f,
		       unsigned int needs, struct err *err);
void storage_table_release(struct storage_table *s);

static inline enum storage_class storage_row_class(const struct storage_row *r)
{
	return (enum storage_class)(2 * r->write + r->sequential);
}
/* "random reads", ... */
const char *storage_class_name(enum storage_class c);

/* A configuration of one class as one VM would have it: clients and file sets added up. */
struct storage_load {
	enum storage_class class;
	double clients, size_bytes, file_set_bytes;
	double response_s; /* over all requests: clients / throughput, by the response-time law */
};

/* False where its rows differ in type, pattern or size. */
bool storage_load_of(struct storage_load *l, const struct storage_table *s,
		     const struct storage_config *c);

/* The indices of the rows that a filter lets through, for readers of plain tables. */
int row_filter_apply(bool *chosen, const struct table *t, const struct row_filter *f,
		     struct err *err);

#endif
