/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/leaving.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/guest/device.h"
#include "agent/guest/machine.h"
#include "agent/capture/stream.h"
#include "formats/hide/place_map.h"
#include "formats/profile/profile.h"
#include "formats/segment/segment_header.h"
#include "workload/window.h"

#define NR_EXAMPLES   2
#define HEADER_AT     28u /* offset of the header in a segment */
#define VALUE_COLUMNS 44

#define LEAVING(member, what)                                                                     \
	{                                                                                         \
#member, offsetof(struct request, member), sizeof(((struct request *)0)->member), \
			what                                                                      \
	}
/* clang-format off: one field, one line */
const struct leaving_field leaving_request_fields[] = {
	LEAVING(arrival_ns, "when it was queued, CLOCK_MONOTONIC"),
	LEAVING(dispatch_ns, "when the driver got it"),
	LEAVING(completion_ns, "when it ended"),
	LEAVING(sector, "its place on the device"),
	LEAVING(cgroup_id, "number of the cgroup"),
	LEAVING(bytes, "its length"),
	LEAVING(device, "number of the disk"),
	LEAVING(tid, "number of the thread that submitted it"),
	LEAVING(pid, "number of its process"),
	LEAVING(flags, "sync, metadata, read-ahead and the like"),
	LEAVING(queue_depth, "requests under way when it came"),
	LEAVING(error, "errno of its end"),
	LEAVING(requeues, "times the driver gave it back"),
	LEAVING(operation, "0 read, 1 write, 2 discard, 3 flush, 4 other"),
	LEAVING(source, "what saw it: 1 bpf, 2 blktrace, 3 tracefs"),
	LEAVING(layer, "0 device, 1 queue"),
};
/* clang-format on */
const size_t leaving_nr_request_fields =
	sizeof(leaving_request_fields) / sizeof(leaving_request_fields[0]);

static const struct {
	const char *name, *what;
} header_words[] = {
	{ "host", "name of this machine, or the host that is configured" },
	{ "boot_id", "which of its boots" },
	{ "agent_version", "of this program" },
	{ "epoch", "when the agent started, or the guest was restored, ns since 1970" },
	{ "sequence", "number of the segment" },
	{ "source", "what saw the requests" },
	{ "layer", "of the block layer" },
	{ "begin", "monotonic, boot and real time, ns" },
	{ "end", "the same at its end" },
	{ "captured", "requests seen meanwhile" },
	{ "requests", "requests in it" },
	{ "devices", "each: number, size in bytes, kernel name" },
	{ "processes", "each: number, command name" },
	{ "cgroups", "each: number, path" },
	{ "losses", "each: cause, count, begin, end, device; pauses too" },
	{ "columns", "each: name, bytes of the requests in it" },
	{ "profiles", "one a window and device: below" },
};

static void leaving_say(FILE *out, const char *field, const char *value, const char *what)
{
	if (*what)
		fprintf(out, "  %-40s %-*s %s\n", field, VALUE_COLUMNS, value, what);
	else
		fprintf(out, "  %-40s %s\n", field, value);
}

/* ---- the example ---- */

struct example {
	struct machine machine;
	struct segment_device device;
	struct segment_process process;
	struct segment_cgroup cgroup;
	struct request requests[NR_EXAMPLES];
	struct buf profile, segment;
};

static int first_disk(void *ctx, const struct device_info *info)
{
	struct device_info *out = ctx;

	if (info->partition || device_is_hidden_by_default(info))
		return 0;
	*out = *info;
	return 1;
}

static int example_device(struct example *e, const struct config *c, struct err *err)
{
	struct device_info info = { .name = "sda",
				    .device = device_make(8, 0),
				    .size_bytes = 1 << 30 };

	if (c->devices.nr) {
		int ret = device_find(c->devices.items[0], &info, err);

		if (ret)
			return ret;
	} else {
		device_list(first_disk, &info);
	}
	e->device.device = info.device;
	e->device.size_bytes = info.size_bytes;
	memccpy(e->device.name, info.name, 0, sizeof(e->device.name) - 1);
	return 0;
}

/* Uses this process as the example of the processes that a trace names. */
static void example_process(struct example *e)
{
	char line[SEGMENT_PATH_BYTES + 16] = "";
	FILE *f = fopen("/proc/self/cgroup", "re");
	const char *path = NULL;

	while (f && !path && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		path = strstr(line, ":/");
	}
	if (f)
		fclose(f);
	e->process.pid = (uint32_t)getpid();
	memcpy(e->process.comm, "blkcast-agent", 14);
	e->cgroup.id = 1;
	memccpy(e->cgroup.path, path ? path + 1 : "/", 0, sizeof(e->cgroup.path) - 1);
}

static void example_requests(struct example *e, uint64_t now_ns, uint8_t layer)
{
	for (uint32_t i = 0; i < NR_EXAMPLES; i++) {
		uint64_t arrival_ns = now_ns + i * 1000000u;

		e->requests[i] = (struct request){ .arrival_ns = arrival_ns,
						   .dispatch_ns = arrival_ns + 20000,
						   .completion_ns = arrival_ns + 300000,
						   .sector = 2048 + i * 8,
						   .cgroup_id = e->cgroup.id,
						   .bytes = 4096,
						   .device = e->device.device,
						   .tid = e->process.pid,
						   .pid = e->process.pid,
						   .flags = REQUEST_SYNC,
						   .operation = (uint8_t)i,
						   .source = SOURCE_BPF,
						   .layer = layer };
	}
}

static void leaving_hide(struct example *e)
{
	const struct pseudonym_key *key = machine_key(&e->machine);
	struct place_map *map;

	if (!key ||
	    place_map_new(&map, key, e->machine.real_host, e->device.device, e->device.size_bytes))
		return;
	for (uint32_t i = 0; i < NR_EXAMPLES; i++)
		place_map_request(map, &e->requests[i]);
	place_map_free(map);
	pseudonym_device(key, e->device.name, e->device.name);
	pseudonym_comm(key, e->process.comm, e->process.comm);
	pseudonym_path(key, e->cgroup.path, e->cgroup.path);
}

/* The few requests of the example do not fill every list that a profile may have. */
static int example_arrivals(struct profile *p)
{
	static const uint64_t one[TALLY_NR_MOST] = { [1] = 1 };
	struct arrival_tally *of[] = { p->read.arrivals, p->write.arrivals, p->undivided_arrivals };
	int ret = 0;

	for (size_t i = 0; i < 3 * NR_TALLIES && !ret; i++) {
		arrival_tally_release(&of[i / NR_TALLIES][i % NR_TALLIES]);
		ret = arrival_tally_make(&of[i / NR_TALLIES][i % NR_TALLIES], i % NR_TALLIES, one);
	}
	return ret;
}

static int example_profile(struct example *e, const struct clock_anchor *begin,
			   const struct clock_anchor *end, uint8_t layer)
{
	struct window_config config = { 0 };
	struct window *w = NULL;
	struct profile p;
	int ret = window_new(&w, &config, begin->monotonic_ns);

	if (ret)
		return ret;
	profile_init(&p);
	ret = window_add_many(w, e->requests, NR_EXAMPLES);
	if (ret)
		goto out;
	ret = window_profile(w, end->monotonic_ns, &p);
	if (ret)
		goto out;
	memcpy(p.host, e->machine.host, sizeof(p.host));
	snprintf(p.device, sizeof(p.device), "%u:%u", device_major(e->device.device),
		 device_minor(e->device.device));
	memcpy(p.device_name, e->device.name, sizeof(p.device_name));
	p.source = SOURCE_BPF;
	p.layer = layer;
	p.begin_s = (double)begin->realtime_ns / 1e9;
	p.end_s = (double)end->realtime_ns / 1e9;
	p.quality.coverage_ratio = 1;
	ret = example_arrivals(&p);
	if (ret)
		goto out;
	profile_grade(&p);
	ret = profile_set_detail(&p, "dasd", "{\"requests\":2}");
	if (ret)
		goto out;
	ret = profile_to_json(&p, PROFILE_JSON_LINE, &e->profile);
	if (ret)
		goto out;
	ret = buf_put_u8(&e->profile, 0);
out:
	profile_release(&p);
	window_free(w);
	return ret;
}

static int example_segment(struct example *e, const struct clock_anchor *begin,
			   const struct clock_anchor *end, uint8_t layer)
{
	const char *profiles[] = { (const char *)e->profile.data };
	struct ledger lost;
	struct segment_header h = { .agent_version = BLKCAST_VERSION,
				    .epoch = begin->realtime_ns,
				    .source = SOURCE_BPF,
				    .layer = layer,
				    .begin = *begin,
				    .end = *end,
				    .nr_captured = NR_EXAMPLES + 1,
				    .devices = &e->device,
				    .nr_devices = 1,
				    .processes = &e->process,
				    .nr_processes = 1,
				    .cgroups = &e->cgroup,
				    .nr_cgroups = 1,
				    .ledger = &lost,
				    .profiles = profiles,
				    .nr_profiles = 1 };
	struct segment_writer *w = NULL;
	int ret;

	ledger_init(&lost);
	memcpy(h.host, e->machine.host, sizeof(h.host));
	memcpy(h.boot_id, e->machine.boot_id, sizeof(h.boot_id));
	ret = ledger_add(&lost, &(struct loss){ .cause = LOSS_RING_FULL,
						.count_known = true,
						.count = 1,
						.begin_real_ns = begin->realtime_ns,
						.end_real_ns = end->realtime_ns,
						.device = e->device.device });
	if (ret)
		goto out;
	ret = segment_writer_new(&w);
	if (ret)
		goto out;
	for (uint32_t i = 0; i < NR_EXAMPLES; i++) {
		ret = segment_writer_add(w, &e->requests[i]);
		if (ret)
			goto out;
	}
	ret = segment_writer_finish(w, &h, &e->segment);
out:
	segment_writer_free(w);
	ledger_release(&lost);
	return ret;
}

static int example_make(struct example *e, const struct config *c, struct err *err)
{
	struct clock_anchor begin = stream_anchor(), end = begin;
	int ret = machine_read(&e->machine, c->host, c->anonymize, err);

	if (ret)
		return ret;
	ret = example_device(e, c, err);
	if (ret)
		return ret;
	end.monotonic_ns += c->window_ns;
	end.boottime_ns += c->window_ns;
	end.realtime_ns += c->window_ns;
	example_process(e);
	example_requests(e, begin.monotonic_ns, c->layer);
	leaving_hide(e);
	ret = example_profile(e, &begin, &end, c->layer);
	if (ret)
		goto out;
	ret = example_segment(e, &begin, &end, c->layer);
out:
	return ret ? err_set(err, -ret, "the example: %s", strerror(-ret)) : 0;
}

/* ---- the decoded bytes ---- */

static const char *word_of(const char *key, size_t len)
{
	for (size_t i = 0; i < sizeof(header_words) / sizeof(header_words[0]); i++)
		if (strlen(header_words[i].name) == len && !memcmp(header_words[i].name, key, len))
			return header_words[i].what;
	return "?";
}

static void print_header(FILE *out, const msgpack_object *map)
{
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		const msgpack_object_kv *kv = &map->via.map.ptr[i];
		const msgpack_object_str *key = &kv->key.via.str;
		char name[SEGMENT_NAME_BYTES + 8], value[512];

		snprintf(name, sizeof(name), "%.*s", (int)key->size, key->ptr);
		if (!strcmp(name, "profiles"))
			snprintf(value, sizeof(value), "%u text, compressed",
				 kv->val.via.array.size);
		else
			msgpack_object_print_buffer(value, sizeof(value), kv->val);
		leaving_say(out, name, value, word_of(key->ptr, key->size));
	}
}

static void print_requests(FILE *out, struct segment_reader *s)
{
	struct request r;

	if (segment_reader_next(s, &r, 1) != 1)
		return;
	for (size_t i = 0; i < leaving_nr_request_fields; i++) {
		const struct leaving_field *f = &leaving_request_fields[i];
		const uint8_t *at = (const uint8_t *)&r + f->at;
		char value[32];
		uint64_t n = 0;

		if (f->bytes == 8)
			memcpy(&n, at, 8);
		else if (f->bytes == 4)
			n = *(const uint32_t *)at;
		else
			n = f->bytes == 2 ? *(const uint16_t *)at : *at;
		snprintf(value, sizeof(value), "%" PRIu64, n);
		leaving_say(out, f->name, value, f->what);
	}
}

/* Prints every leaf of an object with its path. */
static void print_json(FILE *out, const char *path, json_t *value)
{
	const char *key;
	json_t *member;
	char *text;

	json_object_foreach(value, key, member)
	{
		char below[256];

		snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "", key);
		print_json(out, below, member);
	}
	if (json_is_object(value) && json_object_size(value))
		return;
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
	leaving_say(out, path, text ? text : "?", "");
	free(text);
}

static int print_segment(FILE *out, const struct buf *segment, struct err *err)
{
	struct segment_reader *s = NULL;
	msgpack_unpacked map;
	json_t *profile;
	size_t at = 0;
	int ret = segment_reader_new(&s, segment->data, segment->len, err);

	if (ret)
		return ret;
	fprintf(out, "\nA segment (formats/segment/segment.md): its header\n");
	msgpack_unpacked_init(&map);
	if (msgpack_unpack_next(&map, (const char *)segment->data + HEADER_AT,
				segment->len - HEADER_AT, &at) >= 0 &&
	    map.data.type == MSGPACK_OBJECT_MAP)
		print_header(out, &map.data);
	msgpack_unpacked_destroy(&map);
	fprintf(out, "\nEach request in it\n");
	print_requests(out, s);
	fprintf(out, "\nEach profile in it (formats/profile/profile.md)\n");
	profile = json_loads(segment_reader_header(s)->profiles[0], 0, NULL);
	print_json(out, "", profile);
	json_decref(profile);
	segment_reader_free(s);
	return 0;
}

/* ---- how it goes ---- */

static void print_http(FILE *out, const struct config *c, const struct example *e, const char *url)
{
	struct segment_hash hash = segment_hash_of(e->segment.data, e->segment.len);
	char text[512], hash_text[SEGMENT_HASH_TEXT];

	fprintf(out, "\nHTTP to %s, one segment a request\n", url);
	snprintf(text, sizeof(text), "PUT /v1/segments/%s/%s/EPOCH/SEQUENCE", e->machine.host,
		 e->machine.boot_id);
	leaving_say(out, "request line", text, "");
	snprintf(text, sizeof(text), "GET /v1/streams/%s?boot_id=%s&epoch=EPOCH", e->machine.host,
		 e->machine.boot_id);
	leaving_say(out, "request line", text, "at each new contact, without a body");
	segment_hash_text(&hash, hash_text);
	leaving_say(out, "Host", url + strcspn(url, "/") + 2, "of the analyzer");
	leaving_say(out, "User-Agent", "blkcast-agent/" BLKCAST_VERSION, "");
	leaving_say(out, "Accept", "*/*", "");
	leaving_say(out, "Blkcast-Hash", hash_text, "XXH3 of the segment");
	leaving_say(out, "Content-Type", "application/octet-stream", "");
	snprintf(text, sizeof(text), "%zu", e->segment.len);
	leaving_say(out, "Content-Length", text, "");
	leaving_say(out, "Expect", "100-continue", "where it may have been stored before");
	if (c->access.token_file) {
		snprintf(text, sizeof(text), "Bearer, the token of %s", c->access.token_file);
		leaving_say(out, "Authorization", text, "");
	}
	if (c->access.cert)
		leaving_say(out, "TLS certificate", c->access.cert, "of this host");
}

static void print_ways(FILE *out, const struct config *c, const struct example *e)
{
	fprintf(out, "%s names and offsets. Nothing is sent now.\n",
		e->machine.is_hidden ? "Hidden" : "Plain");
	for (size_t i = 0; i < c->sinks.nr; i++) {
		const char *sink = c->sinks.items[i];

		if (!strncmp(sink, "http", 4))
			print_http(out, c, e, sink);
		else if (!strncmp(sink, "file:", 5))
			fprintf(out, "\nSegments to files below %s\n", sink + 5);
		else
			fprintf(out, "\nProfiles alone to standard output\n");
	}
	if (!c->sinks.nr)
		fprintf(out, "\nWithout a sink nothing leaves; with one:\n");
	if (c->listen)
		fprintf(out,
			"\nTo who asks at %s: /metrics (formats/metrics.md), numbers by device\n",
			c->listen);
}

int leaving_print(const struct config *c, FILE *out, struct err *err)
{
	struct example e;
	int ret;

	memset(&e, 0, sizeof(e));
	ret = example_make(&e, c, err);
	if (ret)
		goto out;
	print_ways(out, c, &e);
	ret = print_segment(out, &e.segment, err);
out:
	buf_release(&e.profile);
	buf_release(&e.segment);
	pseudonym_key_forget(&e.machine.key);
	return ret;
}
