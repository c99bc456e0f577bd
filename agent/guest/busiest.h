/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busiest: which processes and cgroups moved the most bytes between two readings, for sources that
 * see no single request: /proc/PID/io (task I/O accounting: bytes that went to or came from disks,
 * whichever they were) and io.stat of cgroup v2. Bounded in processes, folders and depth; what is
 * beyond is left out.
 */
#ifndef AGENT_BUSIEST_H
#define AGENT_BUSIEST_H

#include <stdint.h>

#include <jansson.h>

#define BUSIEST_NR	  5
#define BUSIEST_PROCESSES 8192
#define BUSIEST_CGROUPS	  1024 /* counters of one cgroup on one device count each */
#define BUSIEST_DEPTH	  16

struct busiest;

/*
 * proc, cgroups: where they are mounted; NULL: "/proc", and the cgroup2 that has io.stat, if one is
 * mounted. Takes the first reading. 0, -ENOMEM.
 */
int busiest_new(struct busiest **out, const char *proc, const char *cgroups);
void busiest_free(struct busiest *b);

/* The next reading: what follows is between it and the one before, seconds (> 0) apart. */
void busiest_read(struct busiest *b, double seconds);

/*
 * Arrays as formats/profile/profile.md has them, at most BUSIEST_NR long, the busiest first; those
 * without a byte are left out. The caller's; NULL without memory.
 */
json_t *busiest_processes(const struct busiest *b);
json_t *busiest_cgroups(const struct busiest *b, uint32_t device);

#endif
