/* SPDX-License-Identifier: Apache-2.0 */
/* A spool on a disk that fails or is full, and what it leaves to the kernel. */
#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "agent/spool/spool.h"
#include "tests/support/spool_told.h"
#include "tests/support/tap.h"

/* Calls that fail; which ones, and how often they were made. */
static unsigned int fsync_calls, fail_fsync_from, fail_fsync_to, write_calls;
static int write_error;

static int failing_fsync(int fd)
{
	fsync_calls++;
	if (fsync_calls >= fail_fsync_from && fsync_calls <= fail_fsync_to) {
		errno = EIO;
		return -1;
	}
	return fsync(fd);
}

static ssize_t short_write(int fd, const void *data, size_t len)
{
	write_calls++;
	if (write_error && write_calls > 1) {
		errno = write_error;
		return -1;
	}
	return write(fd, data, len > 7 ? 7 : len);
}

static const struct durable_calls failing = { short_write, failing_fsync };

static void begin_faults(unsigned int from, unsigned int to, int error)
{
	fsync_calls = write_calls = 0;
	fail_fsync_from = from;
	fail_fsync_to = to;
	write_error = error;
}

static void failed_fsync_is_written_anew_once(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 0, &failing);
	begin_faults(1, 1, 0);
	ok_int(append(s, 0, 100), 0);
	/* The failed one, the new file's, the folder's: never twice on the same file. */
	ok_eq(fsync_calls, 3);
	ok_eq(write_calls, 2 * 15);
	ok_eq(peek_sequence(s), 0);
	spool_unpeek(s);
	begin_faults(1, 2, 0);
	ok_int(append(s, 1, 100), -EIO);
	ok_eq(spool_files(s), 1);
	ok_eq(count_files(told.dir, ".tmp"), 0);
	ok_eq(count_files(told.dir, ".seg"), 1);
	/* The folder's own sync failing: the name must not stay half-true. */
	begin_faults(2, 2, 0);
	ok_int(append(s, 2, 100), -EIO);
	ok_eq(count_files(told.dir, ".seg"), 1);
	spool_close(s);
	remove_dir(&told);
}

static void full_disk_makes_room_by_old_ones(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 0, &failing);
	begin_faults(0, 0, 0);
	append(s, 0, 100);
	append(s, 1, 100);
	begin_faults(0, 0, ENOSPC);
	ok_int(append(s, 2, 100), -ENOSPC);
	ok_eq(told.lost, 1);
	ok_eq(spool_files(s), 1);
	ok_eq(count_files(told.dir, ".tmp"), 0);
	begin_faults(0, 0, 0);
	ok_int(append(s, 3, 100), 0);
	ok_eq(peek_sequence(s), 0);
	spool_ack(s);
	ok_eq(peek_sequence(s), 3);
	spool_close(s);
	remove_dir(&told);
}

static void used_up_quota_is_a_full_disk(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 0, &failing);
	begin_faults(0, 0, 0);
	append(s, 0, 100);
	append(s, 1, 100);
	begin_faults(0, 0, EDQUOT);
	ok_int(append(s, 2, 100), -EDQUOT);
	ok_eq(told.lost, 1);
	ok_int(told.cause, LOSS_SPOOL_FULL);
	spool_close(s);
	remove_dir(&told);
}

/*
 * The kernel remembers each name that was removed, some 200 bytes, as one that does not exist. With
 * a name for each segment this grew for as long as memory was not short.
 */
static void removed_segments_leave_one_name(void)
{
	char events[4096] __attribute__((aligned(8)));
	unsigned int nr_removed = 0, wrong = 0;
	struct told told;
	struct spool *s;
	ssize_t nr, at = 0;
	int fd;

	make_dir(&told);
	s = open_spool(&told, 300, NULL);
	fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd < 0 || inotify_add_watch(fd, told.dir, IN_CREATE | IN_DELETE) < 0)
		tap_skip("inotify", "the folder cannot be watched");
	for (uint64_t i = 0; i < 3; i++)
		ok_int(append(s, i, 100), 0);
	ok_eq(peek_sequence(s), 0);
	spool_ack(s);
	ok_int(append(s, 3, 100), 0);
	ok_int(append(s, 4, 100), 0); /* drops one */
	ok_eq(told.gone, 1);
	nr = read(fd, events, sizeof(events));
	while (at < nr) {
		const struct inotify_event *event = (const struct inotify_event *)(events + at);

		/* The creations keep the kernel from joining two equal removals. */
		if (event->mask & IN_DELETE) {
			wrong += strcmp(event->name, "removed.tmp") != 0;
			nr_removed++;
		}
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	ok_eq(nr_removed, 2);
	ok_eq(wrong, 0);
	close(fd);
	spool_close(s);
	remove_dir(&told);
}

static const struct tap_test tests[] = {
	{ "after a failed fsync the bytes go to a new file, once",
	  failed_fsync_is_written_anew_once },
	{ "a full disk makes room by old ones", full_disk_makes_room_by_old_ones },
	{ "a quota that is used up is a full disk", used_up_quota_is_a_full_disk },
	{ "removed segments leave one name to the kernel", removed_segments_leave_one_name },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
