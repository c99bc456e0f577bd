/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: a shell script on a target, with a line to it and its output back.
 *
 * The script lives as long as its standard input: a supervisor on the target reads it, and when it
 * ends (session_hang_up(), or our own death, however sudden) ends the script's whole process group.
 * Nothing on the target outlives us by more than three seconds.
 */
#ifndef ANALYZER_MEASURE_SESSION_H
#define ANALYZER_MEASURE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "analyzer/measure/plan.h"
#include "base/buf.h"
#include "base/err.h"

#define SESSION_OUTPUT_MAX (64u << 20)
#define SESSION_WORDS_MAX  (64u << 10) /* kept of standard error */

/* A zeroed one is not started. */
struct session {
	pid_t pid; /* 0: none */
	int in, out, err;
	struct buf output, words;
	bool ended;    /* the process is gone and everything was read */
	bool too_much; /* more than SESSION_OUTPUT_MAX bytes: it was hung up on */
	int status;    /* exit status, or 128 + signal */
};

/* Runs script by sh on the target. 0, or the -errno of what cannot be started. */
int session_start(struct session *s, const struct plan_target *t, const char *script,
		  struct err *err);
/* A line to the supervisor: "go" or "stop". Failures show when the session ends. */
void session_say(struct session *s, const char *line);
/* Ends the line to it, and so the script; wait for ended with sessions_wait(). */
void session_hang_up(struct session *s);
/* Reads what there is of all started ones, for at most timeout_ms. */
void sessions_wait(struct session *const *all, size_t nr, int timeout_ms);
/* Hangs up, waits a few seconds, then kills. Releases everything; legal on a zeroed one. */
void session_release(struct session *s);
/* The last line with something in it that was written to standard error, or "". */
const char *session_last_words(struct session *s, char *out, size_t size);

/*
 * Appends the supervisor around inner, which runs in its own process group and in folder: see
 * above. "go" ends a `read x <$BLKCAST_GO` in inner, "stop" sends SIGTERM to the group.
 */
int session_supervise(struct buf *script, const char *folder, const char *inner);

#endif
