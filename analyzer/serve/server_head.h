/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_head: what the head of a request says, checked before anything of the request is believed.
 *
 * A proxy and a server that disagree on where a request ends let one client speak in the name of
 * the next one ("request smuggling"). So a head is refused unless it says once, and in one way, how
 * long its body is (RFC 9112, sections 5.1 and 6), and unless each field that `serve` believes comes
 * at most once. The functions below take text and not a connection: tests and fuzz targets run them.
 *
 *	struct head_check check = { 0 };
 *	for each field of the head
 *		head_check_field(&check, name, name_bytes, value, value_bytes);
 *	ret = head_check_end(&check, is_http_1_1, &err);
 */
#ifndef ANALYZER_SERVER_HEAD_H
#define ANALYZER_SERVER_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/store/segment_name.h"
#include "base/err.h"

#define SEGMENTS_PREFIX "/v1/segments/"
#define STREAMS_PREFIX	"/v1/streams/"

/* "HOST/BOOT_ID/EPOCH/SEQUENCE", the path behind SEGMENTS_PREFIX: 0, or -EINVAL with a line. */
int head_segment_path(const char *path, struct segment_name *name, struct err *err);
/* The value of Blkcast-Hash (NULL where there is none) in lower case: 0, or -EINVAL with a line. */
int head_segment_hash(const char *text, char out[SEGMENT_HASH_TEXT], struct err *err);

/* Which streams GET /v1/streams/HOST asks for. */
struct head_streams {
	struct segment_name from; /* boot id "" and epoch 0: from the first one on */
	bool is_boot;		  /* those of from's boot id alone */
	bool is_exact;		  /* from alone */
};

/*
 * host is what follows STREAMS_PREFIX; the others are arguments of the query, NULL where not given:
 * boot_id alone, boot_id and epoch, or from_boot_id and from_epoch. 0, or -EINVAL with a line.
 */
int head_streams(const char *host, const char *boot_id, const char *epoch, const char *from_boot_id,
		 const char *from_epoch, struct head_streams *out, struct err *err);

/* The fields that a head may hold at most once. */
enum head_field {
	HEAD_CONTENT_LENGTH,
	HEAD_TRANSFER_ENCODING,
	HEAD_HOST,
	HEAD_AUTHORIZATION,
	HEAD_BLKCAST_HASH,
	HEAD_EXPECT,
	NR_HEAD_FIELDS,
};

struct head_check { /* zeroed: no field was seen */
	unsigned int nr[NR_HEAD_FIELDS];
	struct err err; /* about the first field that is refused */
};

void head_check_field(struct head_check *check, const char *name, size_t name_bytes,
		      const char *value, size_t value_bytes);
/* 0, or -EINVAL with a line that begins with the field concerned. */
int head_check_end(const struct head_check *check, bool is_http_1_1, struct err *err);

#endif
