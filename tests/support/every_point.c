/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/every_point.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct answer {
	uint64_t met, nr_wrong;
};

struct point_end point_in_child(const struct calls_plan *plan, unsigned int seconds, point_run run,
				void *ctx)
{
	struct answer a = { 0 };
	struct point_end end;
	int status = 0, fds[2];
	pid_t pid;

	fflush(stdout);
	if (pipe(fds))
		abort();
	pid = fork();
	if (pid < 0)
		abort();
	if (!pid) {
		alarm(seconds);
		a.met = run(ctx, plan, &a.nr_wrong);
		calls_flush_coverage();
		_exit(write(fds[1], &a, sizeof(a)) < 0);
	}
	close(fds[1]);
	if (read(fds[0], &a, sizeof(a)) != (ssize_t)sizeof(a))
		a = (struct answer){ 0 };
	close(fds[0]);
	waitpid(pid, &status, 0);
	end.is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	end.is_crashed = !end.is_killed && (!WIFEXITED(status) || WEXITSTATUS(status));
	end.is_reached = WIFSIGNALED(status) || a.met >= plan->at;
	end.nr_wrong = a.nr_wrong;
	return end;
}

uint64_t point_stride(uint64_t when_short)
{
	return getenv("BLKCAST_ENDURANCE") ? 1 : when_short;
}

static void every_point(enum calls_mode mode, int error, uint64_t when_short, point_try try,
			void *ctx)
{
	uint64_t stride = point_stride(when_short);
	struct calls_plan plan = { mode, 1 + (uint64_t)error % stride, error };

	while (try(ctx, &plan))
		plan.at += stride;
}

void points_of_death(uint64_t when_short, point_try try, void *ctx)
{
	every_point(CALLS_KILL_BEFORE, 0, when_short, try, ctx);
	every_point(CALLS_KILL_AFTER, 0, when_short, try, ctx);
}

void points_of_error(uint64_t when_short, point_try try, void *ctx)
{
	static const int errors[] = { EIO,   ENOSPC, EDQUOT, EROFS,  ENOMEM, EMFILE, ENFILE,
				      EINTR, EAGAIN, EPERM,  EACCES, ENOENT, ESTALE, 0 };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		every_point(CALLS_FAIL_ONCE, errors[i], when_short, try, ctx);
		every_point(CALLS_FAIL_FROM, errors[i], when_short, try, ctx);
	}
}

void points_without_memory(uint64_t when_short, point_try try, void *ctx)
{
	every_point(CALLS_NO_MEMORY_ONCE, 0, when_short, try, ctx);
	every_point(CALLS_NO_MEMORY_FROM, 0, when_short, try, ctx);
}
