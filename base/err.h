/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err: one line for a person, carried beside an errno.
 *
 * Functions that meet bad input or a failing system return 0 or -errno and, where a person must
 * act, fill a struct err with one line: what is wrong, where (file:line, field, offset), what was
 * expected. main() prints the line and chooses the exit code. A NULL struct err is always legal.
 */
#ifndef FORMATS_ERR_H
#define FORMATS_ERR_H

#define ERR_LINE_BYTES 512

struct err {
	int code;		   /* 0 or a positive errno */
	char line[ERR_LINE_BYTES]; /* no newline, no trailing full stop; cut where too long */
};

/*
 * Fills e (may be NULL) and returns -code, so that a caller can write
 * `return err_set(e, EINVAL, "%s:%u: window: expected a time above 0, got %s", ...)`.
 * code is a positive errno. What would move a terminal is escaped (shown.h).
 */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "what: " before the line that e already holds; no-op where e is NULL or empty. */
void err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
