/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/guest/thread_table.h"

#define STATUS_BYTES 4096

struct thread_table {
	char *proc; /* owned */
	struct thread_fact slots[THREAD_SLOTS];
};

int thread_table_new(struct thread_table **out, const char *proc)
{
	struct thread_table *t = calloc(1, sizeof(*t));

	if (t)
		t->proc = strdup(proc ? proc : "/proc");
	if (!t || !t->proc) {
		free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void thread_table_free(struct thread_table *t)
{
	if (!t)
		return;
	free(t->proc);
	free(t);
}

/* Takes the name from the first line of a status file. A thread's name may be empty. */
static void comm_take(struct thread_fact *fact, const char *text)
{
	static const char prefix[] = "Name:\t";

	if (strncmp(text, prefix, sizeof(prefix) - 1))
		return;
	text += sizeof(prefix) - 1;
	snprintf(fact->comm, sizeof(fact->comm), "%.*s", (int)strcspn(text, "\n"), text);
}

/*
 * Reads the status of a thread. A thread of the kernel has no memory of its own, so its status has
 * no line VmSize.
 */
static void status_read(const struct thread_table *t, struct thread_fact *fact)
{
	char path[PATH_MAX], text[STATUS_BYTES];
	const char *tgid;
	ssize_t nr;
	int fd;

	snprintf(path, sizeof(path), "%s/%u/status", t->proc, fact->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	nr = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (nr <= 0)
		return;
	text[nr] = 0;
	tgid = strstr(text, "\nTgid:");
	if (!tgid)
		return;
	fact->pid = (uint32_t)strtoul(tgid + 6, NULL, 10);
	fact->is_kernel = !strstr(text, "\nVmSize:") && !strstr(text, "\nState:\tZ") &&
			  !strstr(text, "\nState:\tX");
	if (!fact->comm[0])
		comm_take(fact, text);
}

const struct thread_fact *thread_table_find(struct thread_table *t, uint32_t tid, const char *comm,
					    uint64_t now_ns, bool *is_new)
{
	struct thread_fact *at = &t->slots[(tid * 2654435761u >> 16) % THREAD_SLOTS];

	*is_new = !at->known_ns || at->tid != tid || now_ns - at->known_ns > THREAD_KEEP_NS ||
		  (comm[0] && strncmp(at->comm, comm, THREAD_COMM_BYTES - 1));
	if (!*is_new)
		return at;
	*at = (struct thread_fact){ .known_ns = now_ns ? now_ns : 1, .tid = tid };
	snprintf(at->comm, sizeof(at->comm), "%.15s", comm);
	status_read(t, at);
	return at;
}
