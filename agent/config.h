/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config: the configuration of the agent, from a YAML file and from the command line. An option of
 * the command line overrides the file.
 *
 * The keys of the file have the names of the options: `window: 1s`, `device: [sda, sdb]`. A list
 * given by options replaces the whole list of the file.
 */
#ifndef AGENT_CONFIG_H
#define AGENT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/send/upload.h"
#include "base/data/fields.h"
#include "base/text/err.h"

#define CONFIG_MAX_LIST 64
#define CONFIG_SPOOL	"/var/lib/blkcast/spool"

struct config_list {
	char *items[CONFIG_MAX_LIST]; /* owned */
	size_t nr;
};

enum seccomp_use { SECCOMP_ON, SECCOMP_LOG, SECCOMP_OFF };

struct config {
	struct config_list devices, sinks, cgroups, filesets;
	char *source; /* owned, like all strings; "auto" or the name of a source */
	char *listen; /* NULL: none */
	char *spool;
	char *host;
	char *anonymize; /* file of the key; NULL: nothing is anonymized */
	uint64_t window_ns, segment_interval_ns;
	uint64_t duration_ns; /* 0: until a signal ends the agent */
	uint64_t spool_bytes;
	uint64_t hindsight_ns;	   /* 0: every request is sent */
	uint64_t hindsight_p99_ns; /* 0: no window asks */
	double least_ratio;	   /* share of windows that are sent whole whatever a policy says */
	struct upload_access access; /* its strings are owned */
	unsigned int layer;	     /* enum request_layer */
	unsigned int seccomp;	     /* enum seccomp_use */
	bool spool_keeps_oldest;     /* when the spool is full, it keeps the oldest segments */
	bool has_trace, leave_out_own;
	double max_overhead; /* CPU seconds per second of one CPU; 0: no bound */
	bool see_files;	     /* keeps the right to see what other users' processes hold open */
	bool top;
	uint64_t top_interval_ns; /* 0: the length of the window */
	uint64_t top_count;	  /* 0: no limit */
	bool doctor, json, show_what_leaves, help, version, verbose;
};

/*
 * Parses the command line and the file that it names. Returns 0, or -EINVAL with one line in err
 * ("agent.yaml:3: window: expected ..."); errors of opening the file, such as -ENOENT, have such a
 * line too. The caller releases c in every case.
 */
int config_parse(struct config *c, int argc, char *const *argv, struct err *err);
void config_release(struct config *c);

/* Reads one file into an initialized c. config_parse() calls it for --config. */
int config_read_file(struct config *c, const char *path, struct err *err);
/* Sets the defaults, including the host name. Returns 0 or -ENOMEM. */
int config_init(struct config *c);

/* The keys of the file. A key that is settable is also an option of the same name. */
extern const struct fields config_table;

void config_print_help(FILE *out);

/*
 * Reads "250ms", "1s", "5m", "2h". The time must be above 0; a bare number is in seconds. Returns 0
 * or -EINVAL.
 */
int config_time(const char *text, uint64_t *ns);
/*
 * Reads "64k", "1GiB", "500M", with powers of 1024. The size must be above 0. Returns 0 or -EINVAL.
 */
int config_size(const char *text, uint64_t *bytes);

#endif
