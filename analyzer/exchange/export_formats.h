/* SPDX-License-Identifier: Apache-2.0 */
/* export_formats: what exporter.c lists. */
#ifndef ANALYZER_EXPORT_FORMATS_H
#define ANALYZER_EXPORT_FORMATS_H

#include "analyzer/exchange/exporter.h"

/* For `fio --read_iolog`: times in whole microseconds from the first request. */
extern const struct export_format export_fio_iolog;
/* Q, G, D and C events, one CPU, times from the first request. */
extern const struct export_format export_blkparse;

#endif
