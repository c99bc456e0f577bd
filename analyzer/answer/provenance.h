/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provenance: what an answer or a page was made from, as JSON: the command line, the version, the
 * day, and every recorded device with its host, file system and period. The commands that read
 * recordings, models or campaigns put it into their JSON under "provenance"; docs/blkcast.1 lists
 * its members under `report --json`. The devices are kept beside the lines that the foot of a page
 * shows (page_shell.h), so that both say the same.
 *
 *	ret = provenance_add(cli->maker.origins, &device);
 *	...
 *	json_object_set_new(top, "provenance", provenance_json(&cli->maker));
 */
#ifndef ANALYZER_ANSWER_PROVENANCE_H
#define ANALYZER_ANSWER_PROVENANCE_H

#include <jansson.h>

#include "analyzer/answer/page_shell.h"

/* This struct is a recorded device. Strings are borrowed; "" is unknown. */
struct provenance_device {
	const char *host, *device, *device_name; /* device: "8:0" */
	const char *source;			 /* of the requests: "bpf" */
	const char *file_system;		 /* types that were mounted: "ext4", "vfat,xfs" */
	uint64_t size_bytes;			 /* 0: unknown */
	double begin_s, end_s;			 /* CLOCK_REALTIME */
	uint64_t nr_requests;
};

/* Adds a device, unless the same one is there; o may be NULL. Returns 0 or -ENOMEM. */
int provenance_add(struct page_origins *o, const struct provenance_device *d);
/*
 * Returns {"command", "version", "made_s", "begin_s", "end_s", "devices", "origins"}, a new
 * reference, or NULL where memory is out. begin_s and end_s are those of all devices together, null
 * without any; origins are the lines of the page's foot.
 */
json_t *provenance_json(const struct page_maker *m);

#endif
