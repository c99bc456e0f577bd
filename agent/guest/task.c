/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/guest/task.h"

struct task {
	uint32_t pid;
	uint32_t used; /* the last generation that mentioned it; 0: never */
	bool is_present, is_leader_name;
	char comm[SEGMENT_COMM_BYTES]; /* "": unknown */
};

struct task_table {
	struct task *slots; /* open addressing; there are 2 * max slots */
	size_t nr_slots, max, nr;
	uint32_t generation; /* number of the running segment; at least 2 */
	uint32_t last_pid;
	struct segment_process *collected;
	pthread_mutex_t lock; /* guards nr_collected and collected, which task_table_pids() reads */
	size_t nr_collected;
};

int task_table_new(struct task_table **out, size_t max)
{
	struct task_table *t;

	if (max < 2 || max & (max - 1))
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	pthread_mutex_init(&t->lock, NULL);
	t->max = max;
	t->nr_slots = 2 * max;
	t->generation = 2;
	t->slots = calloc(t->nr_slots, sizeof(*t->slots));
	t->collected = calloc(max, sizeof(*t->collected));
	if (!t->slots || !t->collected) {
		task_table_free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void task_table_free(struct task_table *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	free(t->slots);
	free(t->collected);
	free(t);
}

static struct task *slot_of(const struct task_table *t, uint32_t pid)
{
	size_t at = (pid * 2654435761u) & (t->nr_slots - 1);

	while (t->slots[at].is_present && t->slots[at].pid != pid)
		at = (at + 1) & (t->nr_slots - 1);
	return &t->slots[at];
}

/*
 * Forgets the tasks that neither the running segment nor the last one mentioned, or all tasks where
 * there are none of these.
 */
static void forget_unused(struct task_table *t)
{
	struct task *old = t->slots;
	struct task *slots = calloc(t->nr_slots, sizeof(*slots));
	bool keep_any = slots != NULL;

	if (!slots) {
		memset(old, 0, t->nr_slots * sizeof(*old));
		t->nr = 0;
		return;
	}
	t->slots = slots;
	t->nr = 0;
	for (size_t i = 0; i < t->nr_slots && keep_any; i++) {
		if (!old[i].is_present || old[i].used + 1 < t->generation)
			continue;
		keep_any = t->nr < t->max / 2;
		if (keep_any) {
			*slot_of(t, old[i].pid) = old[i];
			t->nr++;
		}
	}
	free(old);
}

/* Returns the task, which is added where it is new. */
static struct task *task_of(struct task_table *t, uint32_t pid)
{
	struct task *task = slot_of(t, pid);

	if (task->is_present)
		return task;
	if (t->nr >= t->max) {
		forget_unused(t);
		task = slot_of(t, pid);
	}
	*task = (struct task){ .pid = pid, .is_present = true };
	t->nr++;
	return task;
}

void task_table_note(struct task_table *t, uint32_t tid, uint32_t pid, const char *comm)
{
	struct task *task = task_of(t, pid);

	if (task->comm[0] && task->is_leader_name && tid != pid)
		return;
	task->is_leader_name = tid == pid;
	memset(task->comm, 0, sizeof(task->comm));
	memccpy(task->comm, comm, 0, sizeof(task->comm) - 1);
}

void task_table_use(struct task_table *t, uint32_t pid)
{
	if (pid == t->last_pid)
		return;
	t->last_pid = pid;
	if (pid)
		task_of(t, pid)->used = t->generation;
}

static void read_comm(uint32_t pid, char comm[SEGMENT_COMM_BYTES])
{
	char path[32];
	ssize_t nr;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	nr = read(fd, comm, SEGMENT_COMM_BYTES - 1);
	close(fd);
	if (nr > 0)
		comm[strcspn(comm, "\n")] = 0;
}

size_t task_table_collect(struct task_table *t, const struct segment_process **out)
{
	size_t nr = 0;

	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->nr_slots && nr < t->max; i++) {
		struct task *task = &t->slots[i];

		if (!task->is_present || task->used != t->generation)
			continue;
		if (!task->comm[0])
			read_comm(task->pid, task->comm);
		t->collected[nr].pid = task->pid;
		memcpy(t->collected[nr++].comm, task->comm, SEGMENT_COMM_BYTES);
	}
	t->nr_collected = nr;
	pthread_mutex_unlock(&t->lock);
	t->generation++;
	t->last_pid = 0;
	*out = t->collected;
	return nr;
}

size_t task_table_pids(struct task_table *t, uint32_t *out, size_t max)
{
	size_t nr;

	pthread_mutex_lock(&t->lock);
	nr = t->nr_collected < max ? t->nr_collected : max;
	for (size_t i = 0; i < nr; i++)
		out[i] = t->collected[i].pid;
	pthread_mutex_unlock(&t->lock);
	return nr;
}
