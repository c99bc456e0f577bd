/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_head: this module checks the head of a request before anything in the request is trusted.
 *
 * If a proxy and a server disagree on where a request ends, one client can send a request that
 * counts as the request of the next client ("request smuggling"). Therefore a head is refused
 * unless it gives the length of its body exactly once and unambiguously (RFC 9112, sections 5.1 and
 * 6), and unless each field that `serve` uses occurs at most once. The functions take text instead
 * of a connection, so that tests and fuzz targets can call them.
 *
 *	struct head_check check = { 0 };
 *
 *	for each field of the head
 *		head_check_field(&check, name, name_bytes, value, value_bytes);
 *	ret = head_check_end(&check, is_http_1_1, &err);
 */
#ifndef ANALYZER_SERVER_HEAD_H
#define ANALYZER_SERVER_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/store/index/segment_name.h"
#include "base/text/err.h"

#define SEGMENTS_PREFIX "/v1/segments/"
#define STREAMS_PREFIX	"/v1/streams/"

/*
 * Parses "HOST/BOOT_ID/EPOCH/SEQUENCE", the path behind SEGMENTS_PREFIX. Returns 0, or -EINVAL with
 * a line.
 */
int head_segment_path(const char *path, struct segment_name *name, struct err *err);
/*
 * Converts the value of Blkcast-Hash (NULL: missing) to lower case. Returns 0, or -EINVAL with a
 * line.
 */
int head_segment_hash(const char *text, char out[SEGMENT_HASH_TEXT], struct err *err);

/* The streams that GET /v1/streams/HOST asks for. */
struct head_streams {
	struct segment_name from; /* boot id "" and epoch 0: from the first stream on */
	bool is_boot;		  /* only the streams with the boot id of `from` */
	bool is_exact;		  /* only the stream `from` */
};

/*
 * host is the path behind STREAMS_PREFIX. The others are arguments of the query, NULL if missing.
 * Legal are boot_id alone, boot_id and epoch, or from_boot_id and from_epoch. Returns 0, or -EINVAL
 * with a line.
 */
int head_streams(const char *host, const char *boot_id, const char *epoch, const char *from_boot_id,
		 const char *from_epoch, struct head_streams *out, struct err *err);

/* The fields that may occur at most once in a head. */
enum head_field {
	HEAD_CONTENT_LENGTH,
	HEAD_TRANSFER_ENCODING,
	HEAD_HOST,
	HEAD_AUTHORIZATION,
	HEAD_BLKCAST_HASH,
	HEAD_EXPECT,
	NR_HEAD_FIELDS,
};

struct head_check { /* zeroed: no field was checked yet */
	unsigned int nr[NR_HEAD_FIELDS];
	struct err err; /* about the first field that is refused */
};

void head_check_field(struct head_check *check, const char *name, size_t name_bytes,
		      const char *value, size_t value_bytes);
/* Returns 0, or -EINVAL with a line that begins with the field concerned. */
int head_check_end(const struct head_check *check, bool is_http_1_1, struct err *err);

#endif
