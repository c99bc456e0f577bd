/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_child: this module runs commands of this program as child processes with limits, for the
 * questions of the live page.
 *
 * serve starts no programs, and its system-call filter forbids it to. Therefore a helper process is
 * forked while serve has one thread only; it keeps that filter. For each question the helper forks
 * a child, which calls the command as a function. A child has limits of time, processor time,
 * memory, and output, and yields the processor to others (nice 10). Nothing of a question outlives
 * serve: the helper ends with serve, and a child ends as soon as its asker does not wait any more.
 */
#ifndef ANALYZER_SERVE_QUESTION_PAGE_CHILD_H
#define ANALYZER_SERVE_QUESTION_PAGE_CHILD_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

#define PAGE_CHILD_S	       120 /* limit of time, and of processor time */
#define PAGE_CHILD_DATA_BYTES  (2ull << 30)
#define PAGE_CHILD_FILE_BYTES  (256ull << 20)
#define PAGE_CHILD_OUT_BYTES   (8u << 20)
#define PAGE_CHILD_LINE_BYTES  1024
#define PAGE_CHILD_WORDS       256   /* words of a command */
#define PAGE_CHILD_WORDS_BYTES 32768 /* bytes of all its words */

enum page_child_end {
	PAGE_CHILD_EXITED,
	PAGE_CHILD_NO_TIME,  /* a limit of time was reached */
	PAGE_CHILD_TOO_LONG, /* it wrote more than PAGE_CHILD_OUT_BYTES */
	PAGE_CHILD_STOPPED,  /* *stop was set */
	PAGE_CHILD_KILLED,   /* a signal ended it, such as for lack of memory */
};

/* A command of the program; it returns its exit status. */
typedef int page_child_command(int argc, char **argv);

struct page_helper;

/*
 * Forks the helper. Call this from the main thread, before other threads exist and before files are
 * open that a child must not have.
 */
int page_helper_start(struct page_helper **out, page_child_command *run, struct err *err);
/* Ends the helper, all its children, and waits for it. */
void page_helper_stop(struct page_helper *h);

/*
 * Runs a command and waits until it ends. out, which is cleared first, receives its standard
 * output; line is called with each line of its standard error. Sets *end, and *status if it exited.
 * Any thread may call it. Returns 0, or -errno if no process can be made.
 */
int page_child_run(struct page_helper *h, int argc, char *const *argv, const atomic_bool *stop,
		   void (*line)(void *ctx, const char *text), void *ctx, struct buf *out,
		   enum page_child_end *end, int *status);

#endif
