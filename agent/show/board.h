/* SPDX-License-Identifier: Apache-2.0 */
/*
 * board: the present state of the agent, for /metrics and --top.
 *
 * The capture thread posts the profile of each device when its window closes. Counters and
 * histograms accumulate from the start of the run; the figures of the last window are kept beside
 * them. Thread-safe: a reader locks the board for the time that it needs to print it.
 */
#ifndef AGENT_BOARD_H
#define AGENT_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/histogram.h"
#include "formats/ledger.h"
#include "formats/profile/profile.h"
#include "formats/request.h"
#include "workload/who.h"

#define BOARD_DIRECTIONS 2  /* OPERATION_READ, OPERATION_WRITE */
#define BOARD_SIZE_EDGES 16 /* upper ends: the powers of two from 512 B to 16 MiB */

/* Request sizes, counted by power of two. */
struct board_sizes {
	/* requests of at most 512 << i bytes that are larger than the edge before */
	uint64_t at_most[BOARD_SIZE_EDGES];
	uint64_t nr, bytes;
};

struct board_device {
	uint32_t device;
	char name[PROFILE_NAME_BYTES];
	uint64_t size_bytes;
	bool is_hidden; /* hidden on screens unless named: device_is_hidden_by_default() */
	/*
	 * The source only counts requests: histograms, sizes, and sequential and untimed requests
	 * are unknown, and 0 below.
	 */
	bool is_counted;

	/* Since the start of the run. */
	uint64_t requests[NR_OPERATIONS], bytes[NR_OPERATIONS];
	struct histogram duration[BOARD_DIRECTIONS][NR_STAGES];
	struct board_sizes sizes[BOARD_DIRECTIONS];
	double in_flight_s;
	uint64_t sequential[BOARD_DIRECTIONS];
	/* reads and writes without a response time, because their end was not seen */
	uint64_t untimed;

	/* The last window. All values are 0 while the device is idle. */
	struct {
		double duration_s, end_real_s;
		uint64_t requests[NR_OPERATIONS], bytes[NR_OPERATIONS];
		double mean_s[NR_STAGES], p99_s[NR_STAGES];
		double in_flight_mean, clients_mean;
		double sequential_ratio[BOARD_DIRECTIONS], size_mean_bytes[BOARD_DIRECTIONS];
		uint64_t lost;
	} last;
};

struct board_totals {
	uint64_t lost[NR_LOSS_CAUSES];
	double agent_cpu_s, kernel_cpu_s; /* NaN: unknown */
	double watched_s;		  /* length of all windows that were closed so far */
	uint64_t captured;		  /* requests of all devices */
	int shed_level;			  /* enum overhead_level */
	const char *source, *layer;
};

struct board;

int board_new(struct board **out);
void board_free(struct board *b);

/*
 * Adds one closed window of a device. Returns 0, or -ENOMEM: the device's histograms may then be
 * incomplete.
 */
int board_post(struct board *b, uint32_t device, uint64_t size_bytes, bool is_hidden,
	       const struct profile *p);
/* Adds a window in which the device did nothing. */
void board_post_idle(struct board *b, uint32_t device, double end_real_s);
void board_set_totals(struct board *b, const struct board_totals *totals);

/*
 * The board keeps sums by process and by control group for one live view. It keeps them only after
 * board_want_who(), which is called before requests are captured and returns 0 or -ENOMEM. Memory:
 * at most 2 MiB.
 */
#define BOARD_WHO_MAX 2048
int board_want_who(struct board *b);
bool board_wants_who(const struct board *b);
/* Adds the sums of a closed window. Does nothing where nobody wants them. */
void board_post_who(struct board *b, const struct who *processes, const struct who *cgroups);
/*
 * Exchanges the sums since the last exchange for empty tables of BOARD_WHO_MAX entries. The caller
 * holds the lock of board_lock(). Returns false, without an exchange, where nobody wants them.
 */
bool board_swap_who(struct board *b, struct who *processes, struct who *cgroups);

/* Locks the board. The result does not change until board_unlock(). */
const struct board_device *board_lock(struct board *b, size_t *nr, struct board_totals *totals);
void board_unlock(struct board *b);

#endif
