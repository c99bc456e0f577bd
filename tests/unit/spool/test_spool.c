/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/spool/spool.h"
#include "agent/spool/spool_bad.h"
#include "tests/support/spool_told.h"
#include "tests/support/tap.h"

static void oldest_comes_first_across_a_restart(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	for (uint64_t i = 0; i < 5; i++)
		ok_int(append(s, i, 100), 0);
	ok_eq(peek_sequence(s), 0);
	spool_ack(s);
	ok_eq(told.acknowledged, 1);
	ok_eq(peek_sequence(s), 1);
	spool_close(s);

	s = open_spool(&told, 0, NULL);
	ok_eq(spool_files(s), 4);
	ok_eq(spool_bytes(s), 400);
	for (uint64_t i = 1; i < 5; i++) {
		ok_eq(peek_sequence(s), i);
		spool_ack(s);
	}
	ok_eq(spool_files(s), 0);
	ok_eq(count_files(told.dir, ".seg"), 0);
	ok_eq(told.lost, 0);
	spool_close(s);
	remove_dir(&told);
}

static void full_spool_drops_old_ones_and_tells(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 1000, NULL);
	for (uint64_t i = 0; i < 10; i++)
		ok_int(append(s, i, 100), 0);
	ok_eq(told.lost, 0);
	ok_int(append(s, 10, 150), 0);
	ok_eq(told.lost, 2);
	ok_eq(told.gone, 2);
	ok_eq(told.last.sequence, 2);
	ok_eq(told.len, 100);
	ok(told.was_there);
	ok_int(told.cause, LOSS_SPOOL_FULL);
	ok_eq(spool_bytes(s), 950);
	ok_int(append(s, 11, 2000), -EFBIG);
	ok_eq(spool_bytes(s), 950);
	/*
	 * The oldest, which may have been sent without an answer, stays: being sent, and after it.
	 */
	ok_eq(peek_sequence(s), 0);
	ok_int(append(s, 12, 100), 0);
	ok_eq(told.last.sequence, 3);
	spool_unpeek(s);
	ok_int(append(s, 13, 100), 0);
	ok_eq(told.last.sequence, 4);
	ok_eq(peek_sequence(s), 0);
	spool_ack(s);
	ok_eq(peek_sequence(s), 5);
	spool_close(s);
	remove_dir(&told);
}

/* Stored elsewhere, but the answer did not come before the agent was killed. */
static void what_may_have_been_sent_is_not_given_up(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 300, NULL);
	for (uint64_t i = 0; i < 3; i++)
		ok_int(append(s, i, 100), 0);
	ok_eq(peek_sequence(s), 0);
	spool_close(s);
	s = open_spool(&told, 300, NULL);
	for (uint64_t i = 3; i < 9; i++) {
		ok_int(append(s, i, 100), 0);
		ok_eq(told.last.sequence, i - 2);
	}
	ok_int(append(s, 9, 250), -ENOBUFS);
	ok_eq(spool_files(s), 1);
	ok_eq(peek_sequence(s), 0);
	spool_ack(s);
	ok_int(append(s, 10, 250), 0);
	spool_close(s);
	remove_dir(&told);
}

static void full_spool_may_refuse_the_newest(void)
{
	struct told told;
	struct spool *s;
	struct spool_config config = { .max_files = 2, .keeps_oldest = true };

	make_dir(&told);
	config.dir = told.dir;
	ok_int(spool_open(&s, &config, NULL), 0);
	ok_int(append(s, 0, 100), 0);
	ok_int(append(s, 1, 100), 0);
	ok_int(append(s, 2, 100), -ENOBUFS);
	ok_eq(peek_sequence(s), 0);
	spool_ack(s);
	ok_int(append(s, 3, 100), 0);
	ok_eq(peek_sequence(s), 1);
	spool_close(s);
	remove_dir(&told);
}

static void acknowledged_leftovers_are_cleared(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	for (uint64_t i = 0; i < 4; i++)
		append(s, i, 100);
	ok_eq(spool_last_epoch(s), 5);
	spool_forget_through(s, &(struct spool_name){ 5, 1 });
	ok_eq(spool_files(s), 2);
	ok_eq(peek_sequence(s), 2);
	spool_unpeek(s);
	spool_forget_through(s, &(struct spool_name){ 6, 0 });
	ok_eq(spool_files(s), 0);
	ok_eq(spool_last_epoch(s), 0);
	ok_eq(told.lost, 0);
	spool_close(s);
	remove_dir(&told);
}

static void damaged_files_never_stop_it(void)
{
	struct told told;
	struct spool *s;
	char path[128];
	int fd;

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	append(s, 0, 100);
	append(s, 1, 100);
	spool_close(s);
	snprintf(path, sizeof(path), "%s/00000000000000000005-0000000007.seg.tmp", told.dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	snprintf(path, sizeof(path), "%s/what is this.seg", told.dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);

	s = open_spool(&told, 0, NULL);
	ok(s != NULL);
	ok_eq(spool_files(s), 2);
	ok_eq(count_files(told.dir, ".tmp"), 0);
	ok_eq(peek_sequence(s), 0);
	spool_quarantine(s, "test");
	ok_eq(told.lost, 1);
	ok_int(told.cause, LOSS_QUARANTINE);
	ok_eq(count_files(told.dir, ".bad"), 1);
	ok_eq(peek_sequence(s), 1);
	spool_close(s);
	s = open_spool(&told, 0, NULL);
	ok_eq(spool_files(s), 1);
	spool_close(s);
	remove_dir(&told);
}

static void second_agent_is_refused(void)
{
	struct told told;
	struct spool *s;
	struct err err = { 0 };
	struct spool *other = NULL;
	struct spool_config config = { 0 };

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	config.dir = told.dir;
	ok_int(spool_open(&other, &config, &err), -EBUSY);
	ok(strstr(err.line, "another agent") != NULL);
	ok(!other);
	spool_close(s);
	remove_dir(&told);
}

/* A child appends until it is killed; what it was told is durable must be there. */
static void killed_writer_leaves_what_it_was_told_is_durable(void)
{
	unsigned int missing = 0, unreadable = 0;

	for (int round = 0; round < 10; round++) {
		struct told told;
		uint64_t durable = 0, got;
		int pipe_fds[2];
		struct spool *s;
		pid_t pid;

		make_dir(&told);
		if (!ok(!pipe(pipe_fds)))
			return;
		pid = fork();
		if (!pid) {
			s = open_spool(&told, 0, NULL);
			for (uint64_t i = 0;; i++) {
				append(s, i, 4096);
				if (write(pipe_fds[1], &i, sizeof(i)) < 0)
					_exit(1);
			}
		}
		close(pipe_fds[1]);
		for (int i = 0; i < 3 + round; i++)
			if (read(pipe_fds[0], &got, sizeof(got)) == sizeof(got))
				durable = got + 1;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		while (read(pipe_fds[0], &got, sizeof(got)) == sizeof(got))
			durable = got + 1;
		close(pipe_fds[0]);
		s = open_spool(&told, 0, NULL);
		for (uint64_t i = 0; i < durable; i++)
			missing += !spool_holds(s, &(struct spool_name){ 5, i });
		unreadable += count_files(told.dir, ".tmp");
		spool_close(s);
		remove_dir(&told);
	}
	ok_eq(missing, 0);
	ok_eq(unreadable, 0);
}

/* While the spool is open, too: the oldest go, by their number and by their bytes. */
static void segments_set_aside_are_bounded_while_it_runs(void)
{
	struct told told;
	struct spool *s;
	char path[160];

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	for (uint64_t i = 0; i < 40; i++) {
		ok_int(append(s, i, 10), 0);
		ok_eq(peek_sequence(s), i);
		ok(spool_quarantine(s, "refused"));
	}
	ok_eq(told.lost, 40);
	ok_eq(count_files(told.dir, ".bad"), SPOOL_BAD_FILES);
	snprintf(path, sizeof(path), "%s/%020d-%010d.bad", told.dir, 5, 39);
	ok(!access(path, F_OK));
	for (uint64_t i = 40; i < 46; i++) {
		ok_int(append(s, i, 10), 0);
		snprintf(path, sizeof(path), "%s/%020d-%010d.seg", told.dir, 5, (int)i);
		ok(!truncate(path, 6 << 20));
		ok_eq(peek_sequence(s), i);
		ok(spool_quarantine(s, "refused"));
	}
	ok_eq(count_files(told.dir, ".bad"), 2); /* a third would be 18 MiB */
	spool_close(s);
	remove_dir(&told);
}

/* Somebody removes the folder: what waited is told once with its count, and what comes is kept. */
static void removed_folder_is_told_and_made_again(void)
{
	const struct spool_content content = { 7, 100, 200 };
	struct told told;
	struct spool *s;
	char command[128];

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	for (uint64_t i = 0; i < 3; i++)
		ok_int(spool_append(s, &(struct spool_name){ 5, i }, "segment", 7, &content), 0);
	snprintf(command, sizeof(command), "rm -r %s", told.dir);
	ok(!system(command));
	ok_int(spool_append(s, &(struct spool_name){ 5, 3 }, "\3egment", 7, &content), 0);
	ok_eq(told.lost, 1);
	ok_eq(told.gone, 1);
	ok_int(told.cause, LOSS_SPOOL_ERROR);
	ok_eq(told.content.nr_requests, 21);
	ok_eq(told.content.begin_real_ns, 100);
	ok_eq(told.content.end_real_ns, 200);
	ok_eq(spool_files(s), 1);
	ok_eq(count_files(told.dir, ".seg"), 1);
	ok_eq(peek_sequence(s), 3);
	spool_close(s);
	remove_dir(&told);
}

/* A spool in which others can plant files, or whose lock leads elsewhere, is refused. */
static void folder_of_others_is_refused(void)
{
	struct spool_config config = { 0 };
	struct err err = { 0 };
	struct told told;
	struct spool *s;
	char path[160], victim[160];

	make_dir(&told);
	config.dir = told.dir;
	ok(!chmod(told.dir, 0770));
	ok_int(spool_open(&s, &config, &err), -EPERM);
	ok(strstr(err.line, "0770") != NULL);
	ok(!chmod(told.dir, 0700));
	snprintf(path, sizeof(path), "%s/lock", told.dir);
	snprintf(victim, sizeof(victim), "%s/victim", told.dir);
	ok(!symlink(victim, path));
	ok_int(spool_open(&s, &config, &err), -EPERM);
	ok(access(victim, F_OK) != 0);
	ok(!unlink(path));
	ok(!close(open(victim, O_WRONLY | O_CREAT, 0600)) && !link(victim, path));
	ok_int(spool_open(&s, &config, &err), -EPERM);
	remove_dir(&told);
}

/* What is no segment is left alone; of the damaged ones a few are kept. */
static void strange_files_are_left_out(void)
{
	struct spool_name name;
	struct buf data = { 0 };
	struct told told;
	struct spool *s;
	char path[160];

	make_dir(&told);
	for (int i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "%s/%020d-%010d.bad", told.dir, 5, i);
		close(open(path, O_WRONLY | O_CREAT, 0600));
	}
	snprintf(path, sizeof(path), "%s/%020d-%010d.seg", told.dir, 5, 1);
	ok(!mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/%020d-%010d.seg", told.dir, 5, 2);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	ok(!truncate(path, (16 << 20) + 1)); /* longer than a segment can be */
	s = open_spool(&told, 0, NULL);
	ok_eq(count_files(told.dir, ".bad"), 16);
	ok_eq(spool_files(s), 1);
	ok_int(spool_peek(s, &name, &data), -EFBIG);
	ok_eq(name.sequence, 2);
	ok_eq(data.len, 0);
	ok(spool_quarantine(s, "too long"));
	ok_eq(told.lost, 1);
	ok(!told.was_there);
	ok_eq(spool_files(s), 0);
	buf_release(&data);
	spool_close(s);
	remove_dir(&told);
}

static void nothing_peeked_is_nothing_done(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	spool_ack(s);
	ok(spool_quarantine(s, "none"));
	ok_int(append(s, 1, 100), 0);
	spool_ack(s);
	ok(spool_quarantine(s, "none"));
	ok_eq(spool_files(s), 1);
	ok_eq(told.lost + told.gone + told.acknowledged, 0);
	/* Removed behind its back it is acknowledged all the same, and once. */
	ok_eq(peek_sequence(s), 1);
	ok(spool_forget(s, &(struct spool_name){ 5, 1 }));
	ok_eq(spool_files(s), 0);
	spool_ack(s);
	ok_eq(told.acknowledged, 0);
	spool_close(s);
	remove_dir(&told);
}

/* Its ring grows while it is turned, and the order stays. */
static void growing_index_keeps_the_order(void)
{
	uint64_t next = 0;
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	for (uint64_t i = 0; i < 60; i++)
		append(s, i, 10);
	for (; next < 30; next++) {
		ok_eq(peek_sequence(s), next);
		spool_ack(s);
	}
	for (uint64_t i = 60; i < 140; i++)
		ok_int(append(s, i, 10), 0);
	ok_eq(spool_files(s), 110);
	ok_eq(spool_bytes(s), 1100);
	for (; next < 140; next++) {
		ok_eq(peek_sequence(s), next);
		spool_ack(s);
	}
	ok_eq(spool_files(s), 0);
	spool_close(s);
	remove_dir(&told);
}

/* Nobody listens to what it loses: it does the same. */
static void unheard_spool_does_the_same(void)
{
	struct spool_config config = { .max_bytes = 250 };
	struct err err = { 0 };
	struct told told;
	struct spool *s;

	make_dir(&told);
	config.dir = told.dir;
	ok_int(spool_open(&s, &config, &err), 0);
	for (uint64_t i = 0; i < 4; i++)
		ok_int(append(s, i, 100), 0);
	ok_eq(spool_files(s), 2);
	ok_eq(peek_sequence(s), 0);
	ok(spool_quarantine(s, "refused"));
	ok_eq(peek_sequence(s), 3);
	spool_ack(s);
	ok_eq(spool_files(s), 0);
	ok_int(append(s, 9, 300), -EFBIG);
	spool_close(s);
	spool_close(NULL);
	remove_dir(&told);
}

/* A file cut while it is read is what is left of it; the reader of segments refuses it. */
static void file_cut_behind_its_back_is_read_as_it_is(void)
{
	struct spool_name name;
	struct buf data = { 0 };
	struct told told;
	struct spool *s;
	char path[160];

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	append(s, 3, 100);
	snprintf(path, sizeof(path), "%s/%020d-%010d.seg", told.dir, 5, 3);
	ok(!truncate(path, 40));
	ok_int(spool_peek(s, &name, &data), 0);
	ok_eq(data.len, 40);
	ok(!unlink(path));
	ok_int(spool_peek(s, &name, &data), -ENOENT);
	spool_ack(s);
	ok_eq(spool_files(s), 0);
	ok_eq(spool_bytes(s), 0);
	buf_release(&data);
	spool_close(s);
	remove_dir(&told);
}

/* Sets when the file of a segment was written. */
static void set_written(const struct told *told, unsigned int sequence, time_t second)
{
	const struct timespec times[2] = { { second, 0 }, { second, 0 } };
	char path[128];

	snprintf(path, sizeof(path), "%s/%020u-%010u.seg", told->dir, 5u, sequence);
	ok_int(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void earlier_runs_are_bounded_by_their_files(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	for (unsigned int i = 0; i < 3; i++)
		ok_int(append(s, i, 100), 0);
	spool_close(s);
	for (unsigned int i = 0; i < 3; i++)
		set_written(&told, i, (time_t)(1000 + 10 * i));
	s = open_spool(&told, 0, NULL);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t end_ns = (1000 + 10 * i) * 1000000000ull;

		ok_eq(peek_sequence(s), i);
		ok(spool_quarantine(s, "damaged"));
		ok_eq(told.content.nr_requests, SPOOL_UNKNOWN);
		ok_eq(told.content.end_real_ns, end_ns);
		/* How long the first one is cannot be known. */
		ok_eq(told.content.begin_real_ns, i ? end_ns - 10000000000ull : end_ns);
	}
	spool_close(s);
	remove_dir(&told);
}

/* It may be there already: nobody gives it up while it is being sent, not even for the newest. */
static void one_being_sent_is_no_room(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 100, NULL);
	ok_int(append(s, 0, 100), 0);
	ok_eq(peek_sequence(s), 0);
	ok_int(append(s, 1, 100), -ENOBUFS);
	ok_eq(told.lost, 0);
	ok_eq(spool_files(s), 1);
	ok_eq(spool_bytes(s), 100);
	spool_ack(s);
	ok_int(append(s, 1, 100), 0);
	ok_eq(peek_sequence(s), 1);
	spool_close(s);
	remove_dir(&told);
}

static void late_ones_take_their_place(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	ok_int(append(s, 5, 10), 0);
	ok_int(append(s, 3, 10), 0);
	ok_int(append(s, 4, 10), 0);
	for (uint64_t i = 3; i <= 5; i++) {
		ok_eq(peek_sequence(s), i);
		spool_ack(s);
	}
	spool_close(s);
	remove_dir(&told);
}

static void forgotten_ones_leave_room(void)
{
	struct told told;
	struct spool *s;

	make_dir(&told);
	s = open_spool(&told, 0, NULL);
	ok_int(append(s, 1, 100), 0);
	ok_int(append(s, 2, 30), 0);
	ok(spool_forget(s, &(struct spool_name){ 5, 1 }));
	ok_eq(spool_bytes(s), 30);
	ok_eq(spool_files(s), 1);
	ok(!spool_holds(s, &(struct spool_name){ 5, 1 }));
	ok_eq(peek_sequence(s), 2);
	spool_close(s);
	remove_dir(&told);
}

static const struct tap_test tests[] = {
	{ "segments set aside are bounded while the agent runs",
	  segments_set_aside_are_bounded_while_it_runs },
	{ "a folder that somebody removes is told and made again",
	  removed_folder_is_told_and_made_again },
	{ "a folder in which others can plant files is refused", folder_of_others_is_refused },
	{ "what is no segment is left out, and few damaged ones are kept",
	  strange_files_are_left_out },
	{ "where nothing is peeked nothing is done", nothing_peeked_is_nothing_done },
	{ "an index that grows keeps the order", growing_index_keeps_the_order },
	{ "a spool that nobody listens to does the same", unheard_spool_does_the_same },
	{ "a file cut behind its back is read as it is",
	  file_cut_behind_its_back_is_read_as_it_is },
	{ "the oldest comes first, across a restart too", oldest_comes_first_across_a_restart },
	{ "a full spool drops old ones and tells before it does",
	  full_spool_drops_old_ones_and_tells },
	{ "a full spool may refuse the newest instead", full_spool_may_refuse_the_newest },
	{ "what was acknowledged and came back is cleared", acknowledged_leftovers_are_cleared },
	{ "leftovers and damaged files never stop it", damaged_files_never_stop_it },
	{ "a second agent is refused", second_agent_is_refused },
	{ "what may have been sent before a death is not given up",
	  what_may_have_been_sent_is_not_given_up },
	{ "a killed writer leaves what it was told is durable",
	  killed_writer_leaves_what_it_was_told_is_durable },
	{ "one that is being sent makes no room for the newest", one_being_sent_is_no_room },
	{ "segments of earlier runs lie between the times of their files",
	  earlier_runs_are_bounded_by_their_files },
	{ "late ones take their place by name", late_ones_take_their_place },
	{ "forgotten ones leave their room", forgotten_ones_leave_room },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
