// SPDX-License-Identifier: Apache-2.0
/* The limits of a question's child process, and that nothing of it stays. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/answer/answer.h"
#include "analyzer/serve/question/page_child.h"
#include "tests/support/tap.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_HEAP true /* which takes more than any limit */
#else
#define HAS_OWN_HEAP false
#endif

/* The command that the helper runs: its second word says what to do. */
static int child_command(int argc, char **argv)
{
	static char text[65536];

	if (strcmp(argv[1], "say") == 0) {
		printf("%s %d", argv[argc - 1], answer_is_for_page());
		fprintf(stderr, "first\nsecond line\n");
		return 3;
	}
	if (strcmp(argv[1], "long") == 0)
		for (;;)
			fwrite(text, 1, sizeof(text), stdout);
	if (strcmp(argv[1], "memory") == 0) {
		void *volatile all = malloc(PAGE_CHILD_DATA_BYTES);

		return all || HAS_OWN_HEAP ? 0 : 7;
	}
	if (strcmp(argv[1], "abort") == 0)
		abort();
	if (strcmp(argv[1], "files") == 0)
		return fcntl(3, F_GETFD) < 0 ? 0 : 1;
	for (;;)
		pause();
}

struct heard {
	char text[256];
	atomic_bool stop;
};

static void hear(void *ctx, const char *line)
{
	struct heard *h = ctx;
	size_t len = strlen(h->text);

	snprintf(h->text + len, sizeof(h->text) - len, "[%s]", line);
}

static struct page_helper *helper;
static struct buf out;
static struct heard h;
static int status;

static enum page_child_end ask(const char *what)
{
	char *argv[] = { "blkcast", (char *)what, "a word with blanks", NULL };
	enum page_child_end end = PAGE_CHILD_KILLED;

	h = (struct heard){ .text = "" };
	status = -1;
	ok_int(page_child_run(helper, 3, argv, &h.stop, hear, &h, &out, &end, &status), 0);
	return end;
}

static void output_and_status_arrive(void)
{
	ok_int(ask("say"), PAGE_CHILD_EXITED);
	ok_int(status, 3);
	ok(out.len == 20 && memcmp(out.data, "a word with blanks 1", 20) == 0);
	ok_str(h.text, "[first][second line]");
}

static void a_child_has_no_file_of_the_server(void)
{
	ok_int(ask("files"), PAGE_CHILD_EXITED);
	ok_int(status, 0);
}

static void output_beyond_the_limit_ends_it(void)
{
	ok_int(ask("long"), PAGE_CHILD_TOO_LONG);
}

static void a_crash_is_known(void)
{
	ok_int(ask("abort"), PAGE_CHILD_KILLED);
}

static void memory_beyond_the_limit_is_refused(void)
{
	ok_int(ask("memory"), PAGE_CHILD_EXITED);
	ok_int(status, HAS_OWN_HEAP ? 0 : 7);
}

static void *stop_soon(void *ctx)
{
	(void)ctx;
	usleep(100000);
	atomic_store(&h.stop, true);
	return NULL;
}

static void a_child_can_be_stopped(void)
{
	pthread_t thread;

	ok_int(pthread_create(&thread, NULL, stop_soon, NULL), 0);
	ok_int(ask("wait"), PAGE_CHILD_STOPPED);
	pthread_join(thread, NULL);
}

static void no_process_is_left(void)
{
	page_helper_stop(helper);
	ok(waitpid(-1, NULL, WNOHANG) < 0);
}

static const struct tap_test tests[] = {
	{ "the output, the remarks and the status of a command arrive", output_and_status_arrive },
	{ "a child has no file of the server", a_child_has_no_file_of_the_server },
	{ "output beyond the limit ends a child", output_beyond_the_limit_ends_it },
	{ "a crash is known as one", a_crash_is_known },
	{ "memory beyond the limit is refused", memory_beyond_the_limit_is_refused },
	{ "a child can be stopped", a_child_can_be_stopped },
	{ "no process is left", no_process_is_left },
};

int main(void)
{
	struct err err = { 0 };

	buf_init(&out);
	if (page_helper_start(&helper, child_command, &err) < 0)
		return 1;
	return tap_run(tests, TAP_NR(tests));
}
