/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config: what the agent was asked for, from a YAML file and the command line, flags winning.
 *
 * The keys of the file are the names of the flags: `window: 1s`, `device: [sda, sdb]`. A list
 * given by flags replaces the file's.
 */
#ifndef AGENT_CONFIG_H
#define AGENT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/send/upload.h"
#include "base/err.h"
#include "base/fields.h"

#define CONFIG_MAX_LIST 64
#define CONFIG_SPOOL	"/var/lib/blkcast/spool"

struct config_list {
	char *items[CONFIG_MAX_LIST]; /* owned */
	size_t nr;
};

enum seccomp_use { SECCOMP_ON, SECCOMP_LOG, SECCOMP_OFF };

struct config {
	struct config_list devices, sinks, cgroups, filesets;
	char *source; /* owned, as all strings; "auto", ... */
	char *listen; /* NULL: none */
	char *spool;
	char *host;
	char *anonymize; /* file of the key; NULL: nothing is hidden */
	uint64_t window_ns, segment_interval_ns;
	uint64_t duration_ns; /* 0: until a signal */
	uint64_t spool_bytes;
	struct upload_access access; /* its strings are owned */
	unsigned int layer;	     /* enum request_layer */
	unsigned int seccomp;	     /* enum seccomp_use */
	bool spool_keeps_oldest;     /* when it is full */
	bool has_trace, leave_out_own;
	double max_overhead; /* CPU seconds a second, of one CPU; 0: no bound */
	bool see_files;	     /* keeps the right to see what other users' processes hold open */
	bool top;
	uint64_t top_interval_ns; /* 0: the window */
	uint64_t top_count;	  /* 0: without end */
	bool doctor, json, show_what_leaves, help, version, verbose;
};

/*
 * Parses the command line, and the file it names. -EINVAL with one line in err, as is -ENOENT and
 * the like for the file ("agent.yaml:3: window: expected ..."). c is to be released either way.
 */
int config_parse(struct config *c, int argc, char *const *argv, struct err *err);
void config_release(struct config *c);

/* Reads one file into an initialized c; config_parse() does it for --config. */
int config_read_file(struct config *c, const char *path, struct err *err);
/* Defaults, host name included. -ENOMEM. */
int config_init(struct config *c);

/* The keys of the file; those that are settable are options of the same name. */
extern const struct fields config_table;

void config_print_help(FILE *out);

/* "250ms", "1s", "5m", "2h": above 0; a bare number is seconds. 0 or -EINVAL. */
int config_time(const char *text, uint64_t *ns);
/* "64k", "1GiB", "500M": powers of 1024, above 0. 0 or -EINVAL. */
int config_size(const char *text, uint64_t *bytes);

#endif
