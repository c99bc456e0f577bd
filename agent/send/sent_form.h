/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sent_form: remembers on disk whether a segment is sent whole or without its requests.
 *
 * With hindsight a segment is sent in one of two forms. A sender that loses the answer, or that
 * restarts after a part of a segment was stored, must send the same form again: the receiver would
 * mistake the other form for other content, and the requests would count twice. Therefore the form
 * is made durable in the file "form" of the spool before the segment is sent for the first time.
 * Only the oldest segment of a spool is ever under way, so the file holds one record of fixed
 * length. It is overwritten in place, which needs no room on a full disk.
 *
 * Order of calls, by one thread: sent_form_open(), then for each segment sent_form_of(), and, if
 * sent_form_of() returns SENT_UNDECIDED, sent_form_decide() before the segment is sent.
 */
#ifndef AGENT_SENT_FORM_H
#define AGENT_SENT_FORM_H

#include <stdbool.h>

#include "agent/spool/spool.h"
#include "base/system/log.h"

#define SENT_FORM_FILE "form"

enum sent_form_kind {
	SENT_UNDECIDED,
	SENT_WHOLE,
	SENT_THIN, /* without its requests */
};

struct sent_form {
	const char *dir; /* the spool; borrowed */
	struct log *log; /* borrowed; may be NULL */
	struct spool_name name;
	enum sent_form_kind kind; /* the form of the segment `name` */
	/*
	 * The file is there. While it is not, the oldest segment that an earlier run left was sent
	 * whole if it was sent at all, because every run with hindsight has the file.
	 */
	bool has_file, has_older;
};

/* Reads the file. has_segments says that the spool holds segments of an earlier run. */
void sent_form_open(struct sent_form *f, const char *dir, bool has_segments, struct log *log);
/* Returns the form in which the oldest segment of the spool was sent, as far as that is known. */
enum sent_form_kind sent_form_of(struct sent_form *f, const struct spool_name *name);
/*
 * Makes the form durable. If this fails the log says so, and the form is valid for this run only.
 */
void sent_form_decide(struct sent_form *f, const struct spool_name *name, enum sent_form_kind kind);
/* Removes the file: this run sends every segment whole. */
void sent_form_end(struct sent_form *f);

#endif
