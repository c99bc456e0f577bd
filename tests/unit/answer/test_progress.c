/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/answer/progress.h"
#include "tests/support/tap.h"

#define SECOND_NS 1000000000ull

static int log_pipe[2], saved_stderr;

/* From here on standard error is a pipe, as it is where a program collects it. */
static void log_begin(void)
{
	fflush(stderr);
	saved_stderr = dup(STDERR_FILENO);
	ok_int(pipe(log_pipe), 0);
	dup2(log_pipe[1], STDERR_FILENO);
}

static void log_end(char *out, size_t size)
{
	ssize_t len;

	fflush(stderr);
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	close(log_pipe[1]);
	len = read(log_pipe[0], out, size - 1);
	out[len > 0 ? len : 0] = 0;
	close(log_pipe[0]);
}

/* Does as if the progress had begun that much earlier. */
static void progress_age(struct progress *p, uint64_t ns)
{
	p->begin_ns -= ns;
	p->shown_ns -= ns;
}

static void a_log_gets_lines(void)
{
	char text[256];
	struct progress p;

	log_begin();
	progress_begin(&p, "work", 4, false);
	progress_age(&p, 20 * SECOND_NS);
	progress_update(&p, 1);
	progress_age(&p, 20 * SECOND_NS);
	progress_update(&p, 1);
	progress_update(&p, 2);
	progress_end(&p);
	log_end(text, sizeof(text));
	ok_str(text, "work: 25 %, 2 min left\n");
}

static void quiet_is_quiet(void)
{
	char text[256];
	struct progress p;

	log_begin();
	progress_begin(&p, "work", 4, true);
	progress_age(&p, 100 * SECOND_NS);
	progress_update(&p, 1);
	progress_end(&p);
	log_end(text, sizeof(text));
	ok_str(text, "");
}

static const struct tap_test tests[] = {
	{ "a log gets one line after thirty seconds, without control characters",
	  a_log_gets_lines },
	{ "nothing is printed where quiet is wanted", quiet_is_quiet },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
