/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source: where requests come from. One more tracer is one more file with one of these tables.
 */
#ifndef AGENT_SOURCE_H
#define AGENT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/ledger.h"
#include "formats/profile/profile.h"
#include "formats/request.h"

struct source;

struct source_cgroup {
	uint64_t id;	/* kernfs id: the inode number of its directory */
	uint32_t level; /* depth below the root of its tree; root 0 */
};

struct source_config {
	const uint32_t *devices; /* kernel numbers of the disks to trace; borrowed during open */
	size_t nr_devices;	 /* 0: every disk */
	const struct source_cgroup *cgroups; /* each with all below it; borrowed during open */
	size_t nr_cgroups;		     /* 0: every cgroup */
	uint8_t layer;			     /* enum request_layer */
	size_t ring_bytes;		     /* per CPU; 0: the default */
};

/* What a source hands over while it is polled. */
struct source_sink {
	/*
	 * A finished request, in no particular order. Never fails: what it cannot take it counts.
	 */
	void (*request)(void *ctx, const struct request *r);
	/* A thread's name: the first time it is seen, and when it changed. */
	void (*task)(void *ctx, uint32_t tid, uint32_t pid, const char *comm, bool kernel_thread);
	/* nr requests lost for this cause since the last poll; device 0 where unknown. */
	void (*lost)(void *ctx, enum loss_cause cause, uint64_t nr, uint32_t device);
	/*
	 * From begin_ns (CLOCK_MONOTONIC) until now requests of the device may have been lost, how
	 * many is not known. NULL: not heard.
	 */
	void (*gap)(void *ctx, enum loss_cause cause, uint64_t begin_ns, uint32_t device);
	void *ctx;
};

/* What a source that only counts hands over as a window closes. */
struct source_profiles {
	/*
	 * What a device did since it was last told of: all fields but names, source, layer and
	 * quality; borrowed until it returns. is_idle: nothing was counted and nothing is under
	 * way.
	 */
	void (*profile)(void *ctx, uint32_t device, bool is_idle, struct profile *p);
	void *ctx;
};

struct source_ops {
	const char *name; /* as --source takes it */
	uint8_t id;	  /* enum request_source */
	bool is_patient;  /* pace.h */
	/*
	 * Whether this machine offers it: 0, or -errno with the reason in err. Changes nothing.
	 * what (may be NULL) receives one line for --doctor.
	 */
	int (*probe)(char *what, size_t what_bytes, struct err *err);
	/* 0 or -errno; on failure *out is untouched and nothing is left behind in the kernel. */
	int (*open)(struct source **out, const struct source_config *config, struct err *err);
	/* Begins to capture: 0, or -errno with a line in err. NULL: it does from open() on. */
	int (*begin)(struct source *s, struct err *err);
	/*
	 * Hands over what is there and returns how many requests, or -errno (the source is then
	 * dead). Does not block; a caller waits on fd() or a timer first.
	 */
	int64_t (*poll)(struct source *s, const struct source_sink *sink);
	/* A descriptor that turns readable past the watermark, or -1: poll by timer alone. */
	int (*fd)(const struct source *s);
	/* Time spent in the kernel side so far, seconds, estimated; NaN unknown. NULL: has none. */
	double (*kernel_cpu_s)(const struct source *s);
	/*
	 * Puts what only this source knows of the device, of the time since it was last asked, into
	 * source_detail. NULL: knows no more than requests. 0 or -ENOMEM.
	 */
	int (*detail)(struct source *s, uint32_t device, struct profile *p);
	/*
	 * The capabilities, as bits of PRIVILEGE(), without which it cannot go on now that it is
	 * open. NULL: none.
	 */
	uint64_t (*needs)(const struct source *s);
	/* Stops capture, hands over the rest, frees. sink may be NULL. */
	void (*close)(struct source *s, const struct source_sink *sink);
	/*
	 * From now on passes requests over at the least cost, counting them as LOSS_SHED; or goes
	 * back to capture. NULL: cannot. Needs no privilege.
	 */
	void (*shed)(struct source *s, bool on);
	/*
	 * NULL for a source of requests. One that only counts never calls the sink; it reads its
	 * counters here, once per window. 0 or -errno: the source is then dead.
	 */
	int (*profiles)(struct source *s, const struct source_profiles *to);
};

extern const struct source_ops source_bpf;
extern const struct source_ops source_blktrace;
extern const struct source_ops source_tracefs;
extern const struct source_ops source_diskstats;

/* In the order that --source auto tries them; NULL at the end. */
extern const struct source_ops *const source_table[];

/*
 * The source of this name, or for "auto" the first of the table that this machine offers.
 * -EINVAL for a name that is not in the table, else what the source's probe said: for "auto" one
 * line with the reason of each. *out is untouched on failure.
 */
int source_choose(const struct source_ops **out, const char *name, struct err *err);
/*
 * The same for who opens it then. Where what "auto" tries first can be opened before it begins, it
 * is tried by that, with config, and *opened is the caller's: to begin, or to close. Else *opened
 * is NULL.
 */
int source_choose_open(const struct source_ops **out, struct source **opened, const char *name,
		       const struct source_config *config, struct err *err);

#endif
