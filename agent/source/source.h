/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source: the interface of the tracers, from which requests come. Each tracer is one file that
 * provides one table of these functions; a new tracer is one more such file.
 */
#ifndef AGENT_SOURCE_H
#define AGENT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "formats/ledger.h"
#include "formats/profile/profile.h"
#include "formats/request.h"

struct source;

struct source_cgroup {
	uint64_t id;	/* kernfs id, which is the inode number of the cgroup's directory */
	uint32_t level; /* depth below the root of the hierarchy, which has level 0 */
};

struct source_config {
	const uint32_t *devices; /* kernel numbers of the disks to trace; borrowed during open */
	size_t nr_devices;	 /* 0: every disk */
	/* each stands for itself and all cgroups below it; borrowed during open */
	const struct source_cgroup *cgroups;
	size_t nr_cgroups; /* 0: every cgroup */
	uint8_t layer;	   /* enum request_layer */
	size_t ring_bytes; /* bytes per CPU; 0: the default */
};

/* The functions to which a source hands over requests and losses while it is polled. */
struct source_sink {
	/*
	 * A finished request. Requests arrive in no particular order. The function never fails; it
	 * counts the requests that it cannot take.
	 */
	void (*request)(void *ctx, const struct request *r);
	/*
	 * The name of a thread: called when the thread is first seen and when its name has changed.
	 */
	void (*task)(void *ctx, uint32_t tid, uint32_t pid, const char *comm, bool kernel_thread);
	/*
	 * nr requests were lost for this cause since the last poll. device is 0 where it is
	 * unknown.
	 */
	void (*lost)(void *ctx, enum loss_cause cause, uint64_t nr, uint32_t device);
	/*
	 * Requests of the device may have been lost from begin_ns (CLOCK_MONOTONIC) until now, in
	 * unknown number. May be NULL.
	 */
	void (*gap)(void *ctx, enum loss_cause cause, uint64_t begin_ns, uint32_t device);
	void *ctx;
};

/*
 * The function to which a source that only reads counters hands over its profiles when a window
 * closes.
 */
struct source_profiles {
	/*
	 * Takes the profile of a device since its last profile. All fields are set but names,
	 * source, layer and quality. The profile is borrowed until the function returns. is_idle:
	 * nothing was counted and nothing is in flight.
	 */
	void (*profile)(void *ctx, uint32_t device, bool is_idle, struct profile *p);
	void *ctx;
};

struct source_ops {
	const char *name; /* the name that --source accepts */
	uint8_t id;	  /* enum request_source */
	bool is_patient;  /* the polls of the source may be spread out (pace.h) */
	/*
	 * Checks whether this machine offers the source, without changing anything. Returns 0, or
	 * -errno with the reason in err. what (may be NULL) receives one line for --doctor.
	 */
	int (*probe)(char *what, size_t what_bytes, struct err *err);
	/*
	 * Returns 0 or -errno. On failure *out is untouched and nothing is left behind in the
	 * kernel.
	 */
	int (*open)(struct source **out, const struct source_config *config, struct err *err);
	/*
	 * Begins to capture. Returns 0, or -errno with a line in err. NULL: the source captures
	 * from open() on.
	 */
	int (*begin)(struct source *s, struct err *err);
	/*
	 * Hands over what has arrived and returns the number of requests, or -errno, after which
	 * the source is unusable. It does not block; a caller waits on fd() or a timer first.
	 */
	int64_t (*poll)(struct source *s, const struct source_sink *sink);
	/*
	 * Returns a descriptor that becomes readable above the watermark, or -1: the source is
	 * polled by a timer only.
	 */
	int (*fd)(const struct source *s);
	/*
	 * Returns the estimated processor time in seconds spent in the kernel side so far, or NaN
	 * where it is unknown. NULL: there is no kernel side.
	 */
	double (*kernel_cpu_s)(const struct source *s);
	/*
	 * Puts the facts that only this source knows about the device, for the time since the last
	 * call, into source_detail. NULL: the source knows nothing but requests. Returns 0 or
	 * -ENOMEM.
	 */
	int (*detail)(struct source *s, uint32_t device, struct profile *p);
	/*
	 * Returns the capabilities, as bits of PRIVILEGE(), that the source still needs after it
	 * was opened. NULL: none.
	 */
	uint64_t (*needs)(const struct source *s);
	/* Stops the capture, hands over what remains, and frees the source. sink may be NULL. */
	void (*close)(struct source *s, const struct source_sink *sink);
	/*
	 * on: from now on requests are skipped at the least cost and counted as LOSS_SHED. off:
	 * requests are captured again. Needs no privilege. NULL: the source cannot shed.
	 */
	void (*shed)(struct source *s, bool on);
	/*
	 * NULL for a source of requests. A source that only reads counters never calls the sink; it
	 * is asked here once per window. Returns 0 or -errno, after which the source is unusable.
	 */
	int (*profiles)(struct source *s, const struct source_profiles *to);
};

extern const struct source_ops source_bpf;
extern const struct source_ops source_blktrace;
extern const struct source_ops source_tracefs;
extern const struct source_ops source_diskstats;

/* All sources in the order in which --source auto tries them; NULL ends the table. */
extern const struct source_ops *const source_table[];

/*
 * Finds the source of this name or, for "auto", the first of the table that this machine offers.
 * Returns -EINVAL for a name that is not in the table, or else the error of the source's probe; for
 * "auto" err holds one line with each source's reason. *out is untouched on failure.
 */
int source_choose(const struct source_ops **out, const char *name, struct err *err);
/*
 * Does the same for a caller that opens the source afterwards. For "auto", a source that can be
 * opened before it begins is tried by opening it with config; *opened then belongs to the caller,
 * who begins or closes it. Otherwise *opened is NULL.
 */
int source_choose_open(const struct source_ops **out, struct source **opened, const char *name,
		       const struct source_config *config, struct err *err);

#endif
