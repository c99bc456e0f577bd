/* SPDX-License-Identifier: Apache-2.0 */
/* import_writer: requests in order of arrival, by host, to staged segments. For import.c. */
#ifndef ANALYZER_IMPORT_WRITER_H
#define ANALYZER_IMPORT_WRITER_H

#include "analyzer/exchange/import.h"

struct import_writer;

/* Hosts and devices are entered into result, which must outlive it. 0, -ENOMEM. */
int import_writer_new(struct import_writer **out, struct import_stage *stage,
		      struct import_result *result);
void import_writer_free(struct import_writer *w);
/* real time = the trace's time + this; before the first request. */
void import_writer_set_offset(struct import_writer *w, int64_t offset_ns);

/* The index of a host or device in the result, entered where it is new. A number that another
 * device of the host has is replaced by a free one. -ENOMEM, -ENFILE. */
int64_t import_writer_host(struct import_writer *w, const char *name);
int64_t import_writer_device(struct import_writer *w, uint32_t host, const char *name,
			     uint32_t number);
/* r->device is the index of the device. 0, -ENOMEM, -EINVAL, -ENOSPC, -EIO. */
int import_writer_add(struct import_writer *w, const struct request *r, const char *format,
		      struct err *err);
/* Records that were skipped: requests that may be missing from a host's trace. */
int import_writer_lose(struct import_writer *w, uint32_t host, uint64_t nr);
/* Writes what is left. */
int import_writer_finish(struct import_writer *w, struct err *err);

#endif
