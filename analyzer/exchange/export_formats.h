/* SPDX-License-Identifier: Apache-2.0 */
/* export_formats: the formats that exporter.c lists. */
#ifndef ANALYZER_EXPORT_FORMATS_H
#define ANALYZER_EXPORT_FORMATS_H

#include "analyzer/exchange/exporter.h"

/* For `fio --read_iolog`; times are in whole microseconds from the first request. */
extern const struct export_format export_fio_iolog;
/* Writes Q, G, D and C events for one CPU; times count from the first request. */
extern const struct export_format export_blkparse;
/* Writes one row for each request, with every field. */
extern const struct export_format export_parquet;

#endif
