/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hide/place_map.h"
#include "formats/profile/profile_json.h"
#include "formats/hide/redact.h"
#include "tests/support/traffic.h"
#include "tests/support/tap.h"
#include "workload/window.h"

#define NR	   4000u
#define SPAN_BYTES (24u << 20)	   /* below the 8192 blocks from which on reuse is sampled */
#define DISK_BYTES (1024ull << 20) /* regions of 4 MiB */
#define DEVICE	   (8u << 20)

static const struct segment_device devices[] = { { DEVICE, DISK_BYTES, "sda", "ext4" },
						 { DEVICE + 16, 0, "payroll", "" } };
static const struct segment_process processes[] = { { 100, "oracle" }, { 200, "" } };
static const struct segment_cgroup cgroups[] = { { 1, "/" }, { 7, "/customers/acme" } };

static struct pseudonym_key key_of(const char *secret)
{
	struct pseudonym_key k;

	ok_int(pseudonym_key_set(&k, secret, strlen(secret)), 0);
	return k;
}

/*
 * Random 4 KiB and runs of 64 KiB on one disk, in the first three quarters of each region: what
 * lies on both sides of a region's end is apart before and after.
 */
static uint64_t spread(uint64_t sector)
{
	const uint64_t used = (3u << 20) / SECTOR_BYTES;

	return sector / used * (used / 3 * 4) + sector % used;
}

static void make_requests(struct request *r)
{
	struct traffic t = { 5 };

	traffic_random_4k(&t, r, NR, SPAN_BYTES);
	for (uint32_t i = 0; i < NR; i++) {
		r[i].device = DEVICE;
		if (i % 4 == 0) {
			r[i].sector = i / 4 * 128u % (SPAN_BYTES / SECTOR_BYTES);
			r[i].bytes = 65536;
		}
		r[i].sector = spread(r[i].sector);
	}
}

static void profile_of(const struct request *r, size_t nr, struct profile *p)
{
	struct window_config config = { .seed = 1 };
	uint64_t begin = r[0].arrival_ns, end = begin + 1;
	struct window *w = NULL;

	for (size_t i = 0; i < nr; i++)
		end = r[i].completion_ns > end ? r[i].completion_ns : end;
	profile_init(p);
	ok_int(window_new(&w, &config, begin), 0);
	ok_int(window_add_many(w, r, nr), 0);
	ok_int(window_profile(w, end, p), 0);
	p->begin_s = 1;
	p->end_s = 2;
	p->quality.coverage_ratio = 1;
	profile_grade(p);
	window_free(w);
}

static json_t *member_at(json_t *object, const char *path)
{
	char copy[128], *at, *rest = copy;

	strncpy(copy, path, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = 0;
	while (object && (at = strsep(&rest, ".")))
		object = json_object_get(object, at);
	return object;
}

static json_t *json_of(const struct profile *p)
{
	struct buf text = { 0 };
	json_t *json;

	ok_int(profile_to_json(p, PROFILE_JSON_LINE, &text), 0);
	json = json_loadb((char *)text.data, text.len, 0, NULL);
	buf_release(&text);
	return json;
}

/* A segment of web1 with all that names something, and a profile of a host. */
static void encode_with(const char *profile_host, const struct request *r, size_t nr,
			struct buf *out)
{
	struct profile p;
	struct buf text = { 0 };
	const char *profiles[1];
	struct segment_header h = { .host = "web1",
				    .boot_id = "1c9a6d2e-4a0b-4f0e-9e1b-3f1f0c8f7a55",
				    .agent_version = "1",
				    .epoch = 5,
				    .sequence = 7,
				    .source = SOURCE_BPF,
				    .begin = { 1, 2, 3 },
				    .end = { 4, 5, 6 },
				    .nr_captured = nr,
				    .devices = devices,
				    .nr_devices = TAP_NR(devices),
				    .processes = processes,
				    .nr_processes = TAP_NR(processes),
				    .cgroups = cgroups,
				    .nr_cgroups = TAP_NR(cgroups),
				    .profiles = profiles,
				    .nr_profiles = 1 };
	struct segment_writer *w = NULL;

	profile_of(r, nr, &p);
	snprintf(p.host, sizeof(p.host), "%s", profile_host);
	memcpy(p.device, "8:0", 4);
	memcpy(p.device_name, "payroll", 8);
	ok_int(profile_set_detail(&p, "dasd",
				  "{\"label\":\"acme1\",\"n\":[1,\"acme2\",{\"x\":\"a\"}]}"),
	       0);
	ok_int(profile_to_json(&p, PROFILE_JSON_LINE, &text), 0);
	ok_int(buf_put_u8(&text, 0), 0);
	profiles[0] = (char *)text.data;
	ok_int(segment_writer_new(&w), 0);
	for (size_t i = 0; i < nr; i++)
		if (segment_writer_add(w, &r[i]))
			ok_int((int64_t)i, -1);
	ok_int(segment_writer_finish(w, &h, out), 0);
	segment_writer_free(w);
	profile_release(&p);
	buf_release(&text);
}

static void encode(const struct request *r, size_t nr, struct buf *out)
{
	encode_with("web1", r, nr, out);
}

static void redact(const char *secret, const struct buf *in, struct buf *out)
{
	struct pseudonym_key k = key_of(secret);
	struct redactor *r = NULL;
	struct err err = { 0 };

	ok_int(redactor_new(&r, &k), 0);
	if (!ok_int(redactor_segment(r, in->data, in->len, out, &err), 0))
		tap_note("%s", err.line);
	redactor_free(r);
}

/* Decodes a segment of NR requests. */
static struct segment_reader *read_back(const struct buf *in, struct request *r)
{
	struct segment_reader *s = NULL;
	struct err err = { 0 };

	ok_int(segment_reader_new(&s, in->data, in->len, &err), 0);
	ok_int(segment_reader_next(s, r, NR), NR);
	return s;
}

static void foreign_profiles_are_refused(void)
{
	struct pseudonym_key k = key_of("0123456789abcdef");
	struct request *r = calloc(NR, sizeof(*r));
	struct buf plain = { 0 }, out = { 0 };
	struct redactor *redactor = NULL;
	struct err err = { 0 };

	make_requests(r);
	encode_with("db1", r, NR, &plain);
	ok_int(redactor_new(&redactor, &k), 0);
	ok_int(redactor_segment(redactor, plain.data, plain.len, &out, &err), -EINVAL);
	ok_str(err.line, "segment header: profiles: one is of host 'db1', expected 'web1'");
	ok_eq(out.len, 0);
	redactor_free(redactor);
	buf_release(&plain);
	buf_release(&out);
	free(r);
}

static void only_places_move(void)
{
	struct pseudonym_key k = key_of("0123456789abcdef");
	struct request *r = calloc(NR, sizeof(*r)), *got = calloc(NR, sizeof(*got));
	struct buf plain = { 0 }, out = { 0 };
	struct segment_reader *s;
	struct place_map *m = NULL;
	uint64_t wrong = 0, moved = 0;

	make_requests(r);
	encode(r, NR, &plain);
	redact("0123456789abcdef", &plain, &out);
	s = read_back(&out, got);
	ok_int(place_map_new(&m, &k, "web1", DEVICE, DISK_BYTES), 0);
	for (size_t i = 0; i < NR; i++) {
		moved += got[i].sector != r[i].sector;
		place_map_request(m, &r[i]);
		wrong += memcmp(&got[i], &r[i], sizeof(r[i])) != 0;
	}
	ok_eq(wrong, 0);
	ok(moved > NR / 2);
	place_map_free(m);
	segment_reader_free(s);
	buf_release(&plain);
	buf_release(&out);
	free(r);
	free(got);
}

static void names_go(void)
{
	static const char *const words[] = { "web1",	  "1c9a6d2e", "oracle",
					     "customers", "acme",     "payroll" };
	struct request *r = calloc(NR, sizeof(*r));
	struct buf plain = { 0 }, out = { 0 };
	const struct segment_header *h;
	struct segment_reader *s;

	make_requests(r);
	encode(r, NR, &plain);
	redact("0123456789abcdef", &plain, &out);
	s = read_back(&out, r);
	h = segment_reader_header(s);
	ok_str(h->host, "host-16779136f6bc648b");
	ok_str(h->boot_id, "3497e7c9-f64f-2c44-fc48-1c7333d3fe4d");
	ok_str(h->devices[0].name, "sda");
	ok_eq(h->devices[0].size_bytes, DISK_BYTES);
	ok_str(h->devices[0].file_system, "ext4");
	ok(!strncmp(h->devices[1].name, "dev-", 4));
	ok_eq(h->processes[0].pid, 100);
	ok_str(h->processes[1].comm, "");
	ok_str(h->cgroups[0].path, "/");
	ok_eq(strlen(h->cgroups[1].path), 26);
	ok_eq(h->epoch, 5);
	ok_eq(h->sequence, 7);
	ok_eq(h->nr_captured, NR);
	ok_eq(h->nr_profiles, 1);
	ok(strstr(h->profiles[0], "\"n\":[1,{}]") != NULL);
	for (size_t i = 0; i < TAP_NR(words); i++) {
		ok(!strstr(h->profiles[0], words[i]));
		ok(!memmem(out.data, out.len, words[i], strlen(words[i])));
		ok(memmem(plain.data, plain.len, words[i], strlen(words[i])) || i > 5);
	}
	segment_reader_free(s);
	buf_release(&plain);
	buf_release(&out);
	free(r);
}

/* All fields of the profile's own table, but the one that tells of absolute places. */
static void every_dimension_survives(void)
{
	struct request *r = calloc(NR, sizeof(*r)), *got = calloc(NR, sizeof(*got));
	struct buf plain = { 0 }, out = { 0 };
	struct segment_reader *s;
	struct profile a, b;
	json_t *x, *y;

	make_requests(r);
	encode(r, NR, &plain);
	redact("fedcba9876543210", &plain, &out);
	s = read_back(&out, got);
	profile_of(r, NR, &a);
	profile_of(got, NR, &b);
	ok(a.all_sequential_ratio > 0.05 && a.locality.nr_miss_ratio > 3);
	x = json_of(&a);
	y = json_of(&b);
	for (size_t i = 0; i < nr_profile_fields; i++) {
		const char *path = profile_fields[i].path;
		bool same = json_equal(member_at(x, path), member_at(y, path));

		if (!strcmp(path, "locality.distribution"))
			ok(!same);
		else if (!strncmp(path, "arrivals.", 9) && strstr(path, "seek"))
			continue; /* Distances change with the regions. */
		else if (!ok(same || !member_at(x, path)))
			tap_note("%s", path);
	}
	json_decref(x);
	json_decref(y);
	profile_release(&a);
	profile_release(&b);
	segment_reader_free(s);
	buf_release(&plain);
	buf_release(&out);
	free(r);
	free(got);
}

/* A run through all regions is cut once at the end of each, and nowhere else. */
static void runs_break_at_regions_only(void)
{
	struct pseudonym_key k = key_of("0123456789abcdef");
	struct place_map *m = NULL;
	uint64_t sector = 0, next = 0, breaks = 0, nr = DISK_BYTES / 65536;

	ok_int(place_map_new(&m, &k, "web1", DEVICE, DISK_BYTES), 0);
	for (uint64_t i = 0; i < nr; i++, sector += 128) {
		uint64_t to = place_map_sector(m, sector);

		breaks += i && to != next;
		next = to + 128;
	}
	tap_note("%llu of %llu", (unsigned long long)breaks, (unsigned long long)nr);
	ok(breaks <= place_map_nr_regions(m) - 1 && breaks + 8 > place_map_nr_regions(m));
	place_map_free(m);
}

static void keys_and_damage(void)
{
	struct request *r = calloc(NR, sizeof(*r));
	struct buf plain = { 0 }, a = { 0 }, b = { 0 }, c = { 0 };
	struct pseudonym_key k = key_of("0123456789abcdef");
	struct redactor *red = NULL;
	struct err err = { 0 };

	make_requests(r);
	encode(r, NR, &plain);
	redact("0123456789abcdef", &plain, &a);
	redact("0123456789abcdef", &plain, &b);
	redact("0123456789abcdeX", &plain, &c);
	ok(a.len == b.len && !memcmp(a.data, b.data, a.len));
	ok(a.len != c.len || memcmp(a.data, c.data, a.len));
	ok_int(redactor_new(&red, &k), 0);
	plain.data[plain.len / 2] ^= 1;
	ok_int(redactor_segment(red, plain.data, plain.len, &b, &err), -EBADMSG);
	ok_eq(b.len, a.len);
	redactor_free(red);
	buf_release(&plain);
	buf_release(&a);
	buf_release(&b);
	buf_release(&c);
	free(r);
}

static const struct tap_test tests[] = {
	{ "of requests the places alone change, as the map says", only_places_move },
	{ "a profile of another host than its segment is refused", foreign_profiles_are_refused },
	{ "no name is left in header or profiles, compressed or not", names_go },
	{ "every profile dimension survives but those of places", every_dimension_survives },
	{ "a run is cut at the ends of regions alone", runs_break_at_regions_only },
	{ "the same key gives the same bytes; damage is refused", keys_and_damage },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
