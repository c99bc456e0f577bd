/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_schema: the migrations of docs/cluster.sql, which is embedded in the program. */
#ifndef ANALYZER_CLUSTER_SCHEMA_H
#define ANALYZER_CLUSTER_SCHEMA_H

#include "analyzer/store/engine/cluster_sql.h"

/*
 * Runs the migrations that the database lacks, each in one transaction; *from is the version
 * that the database had.
 */
int cluster_schema_migrate(struct cluster_sql *sql, int *from, struct err *err);

#endif
