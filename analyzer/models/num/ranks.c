// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/num/ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/output_file.h"
#include "base/text/shown.h"

#define RANKS_PLUGIN	 "libblkcast-mpi.so"
#define RANKS_FAILED	 3    /* exit status where the ranks cannot go on together */
#define RANKS_LINE_BYTES 400  /* length of the message that a rank leaves when it ends early */
#define RANKS_MAX	 4096 /* a larger number in the environment is taken for a mistake */

enum ranks_step { RANKS_EXCHANGE = 1, RANKS_END, RANKS_APART };

/* Each rank sends this struct about itself before the ranks exchange bytes. */
struct ranks_head {
	uint32_t step;
	int32_t status; /* the exit status, at the end */
	uint64_t tag, size;
	char line[RANKS_LINE_BYTES]; /* at the end: what the rank printed last */
};

static struct {
	const struct ranks_transport *transport;
	unsigned own, nr, nr_threads;
	bool alone; /* this rank works, and the others wait for its end */
	/* what a rank other than 0 prints on standard error goes to this file in memory */
	int said;
	int shown; /* where standard error went before */
} ranks = { .nr = 1, .said = -1, .shown = STDERR_FILENO };

unsigned ranks_nr(void)
{
	return ranks.alone ? 1 : ranks.nr;
}

unsigned ranks_own(void)
{
	return ranks.own;
}

unsigned ranks_threads(void)
{
	return ranks.alone ? 0 : ranks.nr_threads;
}

/*
 * Returns the number of processes that were started together: OpenMPI's mpirun says it, and so does
 * srun, under which the program is one of several only if srun prepared MPI (PMIX_RANK, PMI_RANK).
 */
static unsigned long ranks_told(void)
{
	const char *nr = getenv("OMPI_COMM_WORLD_SIZE"), *own = getenv("OMPI_COMM_WORLD_RANK");

	if (!nr) {
		own = getenv("PMIX_RANK");
		own = own ? own : getenv("PMI_RANK");
		nr = own ? getenv("SLURM_STEP_NUM_TASKS") : NULL;
	}
	/* Until MPI begins, this number decides only who prints what is wrong. */
	ranks.own = own ? (unsigned)strtoul(own, NULL, 10) : 0;
	return nr ? strtoul(nr, NULL, 10) : 1;
}

/* The shared object lies beside the program, or in lib/blkcast beside the program's folder. */
static void *ranks_open(void)
{
	static const char *const places[] = { "", "../lib/blkcast/" };
	char path[4096], *slash;
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 64);
	void *found = NULL;

	if (len <= 0)
		return NULL;
	path[len] = '\0';
	slash = strrchr(path, '/') + 1;
	for (size_t i = 0; !found && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(slash, sizeof(path) - (size_t)(slash - path), "%s%s", places[i],
			 RANKS_PLUGIN);
		/* OpenMPI's own parts look for the symbols of its library among the global ones. */
		if (!access(path, R_OK))
			found = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	}
	return found;
}

int ranks_begin(struct err *err)
{
	unsigned long told = ranks_told();
	const struct ranks_transport *t;
	void *plugin;
	int ret;

	if (told <= 1) {
		ranks.own = 0;
		return 0;
	}
	if (told > RANKS_MAX)
		return err_set(err, EINVAL,
			       "started as one of %lu processes, at most %d can work together",
			       told, RANKS_MAX);
	plugin = ranks_open();
	t = plugin ? dlsym(plugin, RANKS_SYMBOL) : NULL;
	if (!t)
		return err_set(err, ENOPKG,
			       "started as one of %lu processes, but %s does not load: %s", told,
			       RANKS_PLUGIN,
			       plugin ? "it is of another version"
				      : "install OpenMPI, and it beside the program or in "
					"lib/blkcast");
	if (t->version != RANKS_VERSION)
		return err_set(err, ENOPKG, "%s is of another version than the program",
			       RANKS_PLUGIN);
	ret = t->begin(&ranks.own, &ranks.nr, &ranks.nr_threads);
	if (ret)
		return err_set(err, -ret, "MPI does not begin: %s", strerror(-ret));
	ranks.transport = t;
	return 0;
}

int ranks_quiet(struct err *err)
{
	int null;

	if (!ranks.own)
		return 0;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ranks.said = memfd_create("blkcast-said", MFD_CLOEXEC);
	ranks.shown = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (null < 0 || ranks.said < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(ranks.said, STDERR_FILENO) < 0)
		return err_set(err, errno, "standard output: %s", strerror(errno));
	close(null);
	output_file_discard();
	return 0;
}

bool ranks_works_alone(void)
{
	if (!ranks_own())
		ranks.alone = true;
	return !ranks_own();
}

/* Copies the last line that this rank printed on standard error. */
static void ranks_last_line(char *line, size_t size)
{
	off_t end = ranks.said < 0 ? 0 : lseek(ranks.said, 0, SEEK_END);
	off_t from = end > (off_t)size ? end - (off_t)size + 1 : 0;
	ssize_t got = end > 0 ? pread(ranks.said, line, size - 1, from) : 0;
	char *last;

	line[got > 0 ? got : 0] = '\0';
	if (got > 0 && line[got - 1] == '\n')
		line[got - 1] = '\0';
	last = strrchr(line, '\n');
	if (last)
		memmove(line, last + 1, strlen(last));
}

/*
 * Ends this process within an exchange that it alone cannot finish. The others wait in that
 * exchange and would wait for ever; mpirun and srun end them because of the signal.
 */
static void __attribute__((noreturn)) ranks_abort(int error)
{
	dprintf(ranks.shown, "blkcast: rank %u cannot exchange its results: %s\n", ranks.own,
		strerror(error));
	abort();
}

/*
 * Prints why the ranks cannot go on together, and ends this process. All ranks come here. Where
 * rank 0 failed, it has said why, and its status is that of all.
 */
static void __attribute__((noreturn)) ranks_part(const struct ranks_head *heads)
{
	const struct ranks_head *ended = NULL;
	bool told = heads && heads[0].step == RANKS_END && heads[0].status;
	unsigned who = 0;

	for (unsigned i = 1; i < ranks.nr && !ended; i++)
		if (heads && heads[i].step == RANKS_END) {
			ended = &heads[i];
			who = i;
		}
	fflush(stdout);
	if (ranks.own || told)
		goto out;
	if (!heads)
		fputs("blkcast: the ranks cannot exchange their results\n", stderr);
	else if (ended && heads[0].step != RANKS_END)
		fprintf(stderr, "blkcast: rank %u ended with status %d before the others: %.*s\n",
			who, ended->status, RANKS_LINE_BYTES, ended->line);
	else
		fputs("blkcast: the ranks do not work on the same question: each needs the same "
		      "files and arguments\n",
		      stderr);
out:
	ranks.transport->end();
	_exit(told ? heads[0].status : RANKS_FAILED);
}

/* Exchanges the heads. heads has room for one of each rank. */
static void ranks_meet(const struct ranks_head *own, struct ranks_head *heads)
{
	if (ranks.transport->gather(own, sizeof(*own), heads))
		ranks_part(NULL);
	for (unsigned i = 0; i < ranks.nr; i++)
		if (heads[i].step != own->step || heads[i].tag != own->tag)
			ranks_part(heads);
}

void ranks_apart(void)
{
	struct ranks_head own = { .step = RANKS_APART };
	struct ranks_head *heads = calloc(ranks.nr, sizeof(*heads));

	if (!heads)
		ranks_abort(ENOMEM);
	ranks_meet(&own, heads);
	ranks_part(heads);
}

int ranks_exchange(struct ranks_bytes *all, uint64_t tag, const void *mine, size_t size)
{
	struct ranks_head own = { .step = RANKS_EXCHANGE, .tag = tag, .size = size };
	struct ranks_head *heads = calloc(ranks.nr, sizeof(*heads));
	size_t sum = 0;
	int ret;

	*all = (struct ranks_bytes){ .sizes = calloc(ranks.nr, sizeof(*all->sizes)) };
	if (!heads || !all->sizes)
		ranks_abort(ENOMEM);
	ranks_meet(&own, heads);
	for (unsigned i = 0; i < ranks.nr; i++)
		sum += all->sizes[i] = heads[i].size;
	all->data = malloc(sum + 1);
	if (!all->data)
		ranks_abort(ENOMEM);
	ret = ranks.transport->gather_sizes(mine, all->sizes, all->data);
	/* The sizes are known to all ranks, so that all of them find the same sum too large. */
	if (ret && ret != -EMSGSIZE)
		ranks_abort(-ret);
	free(heads);
	if (ret)
		ranks_bytes_release(all);
	return ret;
}

void ranks_bytes_release(struct ranks_bytes *b)
{
	free(b->data);
	free(b->sizes);
	*b = (struct ranks_bytes){ 0 };
}

int ranks_agree(void *value, size_t size)
{
	struct ranks_bytes all;
	int ret;

	if (ranks_nr() == 1)
		return 0;
	ret = ranks_exchange(&all, size, value, ranks.own ? 0 : size);
	if (ret)
		return ret;
	if (all.sizes[0] != size)
		ranks_apart();
	memcpy(value, all.data, size);
	ranks_bytes_release(&all);
	return 0;
}

int ranks_end(int status)
{
	struct ranks_head own = { .step = RANKS_END, .status = status };
	struct ranks_head *heads;

	if (!ranks.transport)
		return status;
	heads = calloc(ranks.nr, sizeof(*heads));
	if (!heads)
		ranks_abort(ENOMEM);
	ranks_last_line(own.line, sizeof(own.line));
	ranks_meet(&own, heads);
	free(heads);
	ranks.transport->end();
	/* mpirun takes the first status that is not 0 for the end of all. */
	return ranks.own ? 0 : status;
}
