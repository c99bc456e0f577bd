/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload_state: the declarations that upload.c and upload_connect.c share. No other file includes
 * this header.
 */
#ifndef AGENT_UPLOAD_STATE_H
#define AGENT_UPLOAD_STATE_H

#include <curl/curl.h>
#include <sys/stat.h>

#include "agent/send/reach.h"
#include "agent/send/upload.h"
#include "base/memory/buf.h"

/* The files that prove the identity of this host or check that of the receiver. */
enum { FILE_CA, FILE_CERT, FILE_KEY, FILE_TOKEN, NR_FILES };
struct upload_files {
	struct stat seen[NR_FILES];
};

struct upload {
	CURL *curl;
	struct reach *reach;
	const char *system_ca;	     /* path of a file, or NULL */
	char *base;		     /* without a slash at the end */
	struct upload_access access; /* its strings are owned */
	struct upload_files files;   /* the files as they were when the connection was set up */
	char *authorization;	     /* the HTTP header; NULL: there is no token */
	const atomic_bool *abort_flag;
	struct segment_reader *reader; /* reader of the last segment; NULL before the first one */
	struct cursor body;
	struct buf answer;
	size_t head_bytes;
	char detail[CURL_ERROR_SIZE]; /* libcurl's text on the last failure */
};

/*
 * Sets the connection up again where one of the files has changed. Files that cannot be used are
 * reported by the transfers that fail because of them. Where the token cannot be read, the old one
 * stays in use.
 */
int upload_refresh(struct upload *u, bool first, struct err *err);

#endif
