// SPDX-License-Identifier: Apache-2.0
/*
 * libblkcast-mpi.so: the part of ranks.h that uses MPI. The program loads it when it was started by
 * mpirun or srun.
 *
 * MPI's own waits take a whole processor. The waits here test and sleep, so that ranks that wait
 * leave the processors to those that still work.
 */
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/models/num/ranks.h"

#define FIRST_SLEEP_NS 20000
#define MOST_SLEEP_NS  2000000

static int ranks_mpi_wait(MPI_Request *request)
{
	struct timespec pause = { .tv_nsec = FIRST_SLEEP_NS };
	int done = 0;

	for (;;) {
		if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return -EIO;
		if (done)
			return 0;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < MOST_SLEEP_NS)
			pause.tv_nsec += pause.tv_nsec / 4;
	}
}

static int ranks_mpi_gather(const void *mine, size_t size, void *all)
{
	MPI_Request request;

	if (size > INT_MAX)
		return -EMSGSIZE;
	if (MPI_Iallgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, MPI_COMM_WORLD,
			   &request) != MPI_SUCCESS)
		return -EIO;
	return ranks_mpi_wait(&request);
}

static int ranks_mpi_gather_sizes(const void *mine, const size_t *sizes, void *all)
{
	int own, nr, *counts, *begins, ret = 0;
	size_t sum = 0;
	MPI_Request request;

	MPI_Comm_rank(MPI_COMM_WORLD, &own);
	MPI_Comm_size(MPI_COMM_WORLD, &nr);
	counts = calloc((size_t)nr, 2 * sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	begins = counts + nr;
	for (int i = 0; i < nr; i++) {
		begins[i] = (int)sum;
		counts[i] = (int)sizes[i];
		sum += sizes[i];
		if (sizes[i] > INT_MAX || sum > INT_MAX)
			ret = -EMSGSIZE;
		if (ret)
			goto out;
	}
	if (MPI_Iallgatherv(mine, counts[own], MPI_BYTE, all, counts, begins, MPI_BYTE,
			    MPI_COMM_WORLD, &request) != MPI_SUCCESS)
		ret = -EIO;
	if (!ret)
		ret = ranks_mpi_wait(&request);
out:
	free(counts);
	return ret;
}

/*
 * Returns how many processors this rank may use. Ranks that are bound to the same processors share
 * them; a rank with processors of its own has all of these.
 */
static unsigned ranks_mpi_threads(void)
{
	cpu_set_t own, *all;
	unsigned sharers = 0, nr;
	MPI_Comm here;
	int nr_here;

	CPU_ZERO(&own);
	if (sched_getaffinity(0, sizeof(own), &own))
		return 1;
	if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) !=
	    MPI_SUCCESS)
		return 1;
	MPI_Comm_size(here, &nr_here);
	all = calloc((size_t)nr_here, sizeof(*all));
	if (all)
		MPI_Allgather(&own, sizeof(own), MPI_BYTE, all, sizeof(own), MPI_BYTE, here);
	for (int i = 0; all && i < nr_here; i++)
		sharers += CPU_EQUAL(&all[i], &own);
	free(all);
	MPI_Comm_free(&here);
	nr = (unsigned)CPU_COUNT(&own) / (sharers ? sharers : 1);
	return nr ? nr : 1;
}

static int ranks_mpi_begin(unsigned *own, unsigned *nr, unsigned *nr_threads)
{
	int provided, rank, size;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
		return -EIO;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	*own = (unsigned)rank;
	*nr = (unsigned)size;
	*nr_threads = ranks_mpi_threads();
	return 0;
}

static void ranks_mpi_end(void)
{
	MPI_Finalize();
}

const struct ranks_transport ranks_transport = {
	.version = RANKS_VERSION,
	.begin = ranks_mpi_begin,
	.gather = ranks_mpi_gather,
	.gather_sizes = ranks_mpi_gather_sizes,
	.end = ranks_mpi_end,
};
