/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: runs a shell script on a target, sends commands to it and collects its output.
 *
 * The script lives as long as its standard input is open. A supervisor on the target reads this
 * input. When the input ends, through session_hang_up() or because this program died, the
 * supervisor ends the whole process group of the script. Nothing on the target outlives this
 * program by more than three seconds.
 */
#ifndef ANALYZER_MEASURE_SESSION_H
#define ANALYZER_MEASURE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "analyzer/measure/plan.h"
#include "base/memory/buf.h"
#include "base/text/err.h"

#define SESSION_OUTPUT_MAX (64u << 20)
#define SESSION_WORDS_MAX  (64u << 10) /* so many bytes of standard error are kept */

/* A zeroed struct is a session that was not started. */
struct session {
	pid_t pid; /* 0: none */
	int in, out, err;
	struct buf output, words;
	bool ended;    /* The process has ended and all its output was read. */
	bool too_much; /* More than SESSION_OUTPUT_MAX bytes came, and the session was hung up. */
	int status;    /* exit status, or 128 + signal */
};

/*
 * Runs the script with sh on the target. Returns 0, or the -errno with which it could not be
 * started.
 */
int session_start(struct session *s, const struct plan_target *t, const char *script,
		  struct err *err);
/* Sends a line to the supervisor: "go" or "stop". A failure shows when the session ends. */
void session_say(struct session *s, const char *line);
/* Closes the session's standard input, which ends the script. sessions_wait() then sets `ended`. */
void session_hang_up(struct session *s);
/* Reads the output that the started sessions have, and waits for it at most timeout_ms. */
void sessions_wait(struct session *const *all, size_t nr, int timeout_ms);
/*
 * Hangs up, waits a few seconds, and then kills the process. Releases everything. A zeroed struct
 * is allowed.
 */
void session_release(struct session *s);
/* Returns the last line of standard error that is not empty, or "". */
const char *session_last_words(struct session *s, char *out, size_t size);

/*
 * Appends a script that runs inner under the supervisor, in the folder and in a process group of
 * its own. "go" ends a `read x <$BLKCAST_GO` in inner, and "stop" sends SIGTERM to the group.
 */
int session_supervise(struct buf *script, const char *folder, const char *inner);

#endif
