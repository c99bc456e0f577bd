/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_writer: turns requests in order of arrival into staged segments, one stream per host. For
 * import.c.
 */
#ifndef ANALYZER_IMPORT_WRITER_H
#define ANALYZER_IMPORT_WRITER_H

#include "analyzer/exchange/import.h"

struct import_writer;

/*
 * Hosts and devices are entered into result, which must outlive the writer. Returns 0 or -ENOMEM.
 */
int import_writer_new(struct import_writer **out, struct import_stage *stage,
		      struct import_result *result);
void import_writer_free(struct import_writer *w);
/* Sets the offset: real time = the trace's time + offset_ns. Call this before the first request. */
void import_writer_set_offset(struct import_writer *w, int64_t offset_ns);

/*
 * Return the index of a host or device in the result, where it is entered if it is new. A number
 * that another device of the host has is replaced by a free one. Errors are -ENOMEM and -ENFILE.
 */
int64_t import_writer_host(struct import_writer *w, const char *name);
int64_t import_writer_device(struct import_writer *w, uint32_t host, const char *name,
			     uint32_t number);
/* r->device is the index of the device. Returns 0, -ENOMEM, -EINVAL, -ENOSPC or -EIO. */
int import_writer_add(struct import_writer *w, const struct request *r, const char *format,
		      struct err *err);
/* Notes records that were skipped, that is, requests that may be missing from a host's trace. */
int import_writer_lose(struct import_writer *w, uint32_t host, uint64_t nr);
/* Writes the remaining requests. */
int import_writer_finish(struct import_writer *w, struct err *err);

#endif
