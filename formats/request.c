/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "formats/request.h"

static const char *name_of(const char *const *names, unsigned int nr, unsigned int i)
{
	return i < nr ? names[i] : NULL;
}

const char *operation_name(unsigned int operation)
{
	static const char *const names[NR_OPERATIONS] = { "read", "write", "discard", "flush",
							  "other" };

	return name_of(names, NR_OPERATIONS, operation);
}

const char *source_name(unsigned int source)
{
	static const char *const names[NR_SOURCES] = { "unknown", "bpf",       "blktrace",
						       "tracefs", "diskstats", "import" };

	return name_of(names, NR_SOURCES, source);
}

const char *layer_name(unsigned int layer)
{
	static const char *const names[NR_LAYERS] = { "device", "queue" };

	return name_of(names, NR_LAYERS, layer);
}

int device_parse(const char *text, uint32_t *device)
{
	unsigned int major, minor;
	char rest;

	if (sscanf(text, "%u:%u%c", &major, &minor, &rest) != 2 ||
	    major >= 1u << (32 - DEVICE_MINOR_BITS) || minor >= 1u << DEVICE_MINOR_BITS)
		return -EINVAL;
	*device = device_make(major, minor);
	return 0;
}

const char *request_check(const struct request *r)
{
	if (r->operation >= NR_OPERATIONS)
		return "operation";
	if (r->source >= NR_SOURCES)
		return "source";
	if (r->layer >= NR_LAYERS)
		return "layer";
	if (r->flags & ~REQUEST_FLAGS_ALL)
		return "flags";
	if (r->flags & REQUEST_NO_OPERATION && r->operation != OPERATION_OTHER)
		return "operation";
	if (r->reserved)
		return "reserved";
	if (r->dispatch_ns < r->arrival_ns)
		return "dispatch_ns";
	if (r->completion_ns < r->dispatch_ns || r->completion_ns > TRACE_TIME_MAX_NS)
		return "completion_ns";
	if (r->bytes > (request_is_data(r) ? REQUEST_MAX_DATA_BYTES : REQUEST_MAX_BYTES))
		return "bytes";
	if (r->sector > REQUEST_END_SECTOR_MAX ||
	    request_sectors(r) > REQUEST_END_SECTOR_MAX - r->sector)
		return "sector";
	return NULL;
}
