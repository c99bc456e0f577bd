/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err: one line for a person, carried beside an errno.
 *
 * A function that meets bad input or a failing system returns 0 or -errno and, where a person must
 * act, fills a struct err with one line: what is wrong, where it is (file:line, field, offset) and
 * what was expected. main() prints the line and chooses the exit status. A NULL struct err is
 * always allowed.
 */
#ifndef BASE_TEXT_ERR_H
#define BASE_TEXT_ERR_H

#define ERR_LINE_BYTES 512

struct err {
	int code; /* 0 or a positive errno */
	/* without newline and final full stop; cut where it is too long */
	char line[ERR_LINE_BYTES];
};

/*
 * Fills e (may be NULL) and returns -code, so that a caller can write `return err_set(e, EINVAL,
 * "%s:%u: window: expected a time above 0, got %s", ...)`. code is a positive errno. Characters
 * that would control a terminal are escaped (shown.h).
 */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "what: " before the line that e holds. It does nothing where e is NULL or empty. */
void err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Appends to the line that e holds, and does nothing where e holds none. Libraries know no options
 * of commands: with this function a command appends the option that helps.
 */
void err_suffix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
