/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busiest: finds the processes and cgroups that moved the most bytes between two readings, for
 * sources that see no single requests. The module reads /proc/PID/io (task I/O accounting: bytes
 * read from or written to any disk) and io.stat of cgroup v2. The numbers of processes, folders and
 * levels are bounded; those beyond the bounds are left out.
 */
#ifndef AGENT_BUSIEST_H
#define AGENT_BUSIEST_H

#include <stdint.h>

#include <jansson.h>

#define BUSIEST_NR	  5
#define BUSIEST_PROCESSES 8192
#define BUSIEST_CGROUPS	  1024 /* each is the set of counters of one cgroup on one device */
#define BUSIEST_DEPTH	  16

struct busiest;

/*
 * Takes the first reading. proc and cgroups are the mount points; NULL stands for "/proc" and for
 * the cgroup2 mount that has io.stat, if there is one. Returns 0 or -ENOMEM.
 */
int busiest_new(struct busiest **out, const char *proc, const char *cgroups);
void busiest_free(struct busiest *b);

/*
 * Takes the next reading. The results below then describe the time between it and the reading
 * before, which are this many seconds (> 0) apart.
 */
void busiest_read(struct busiest *b, double seconds);

/*
 * Return JSON arrays as formats/profile/profile.md describes them: at most BUSIEST_NR entries, the
 * busiest first, without those that moved no byte. The caller owns the result; NULL: no memory.
 */
json_t *busiest_processes(const struct busiest *b);
json_t *busiest_cgroups(const struct busiest *b, uint32_t device);

#endif
