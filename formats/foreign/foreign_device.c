/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/foreign/foreign_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/keyed_hash.h"

#define FIRST_SLOTS 64

/* Open addressing; a slot holds an index + 1, or 0 where it is free. */
struct foreign_index {
	uint32_t *slots; /* owned */
	uint64_t *keys;	 /* owned; the hash of each device, by its index */
	uint32_t nr_slots, cap_keys;
	uint32_t nr_named;	       /* minors given to devices without a number */
	uint64_t last_key;	       /* key of f->last_device */
	char stem[FOREIGN_NAME_BYTES]; /* name of the only device */
};

static uint64_t key_of(struct text host, const char *prefix, struct text id)
{
	uint64_t seed = keyed_hash((uintptr_t)text_len(id), host.at, text_len(host));

	return keyed_hash(seed + (unsigned char)prefix[0], id.at, text_len(id));
}

int foreign_devices_init(struct foreign *f)
{
	f->index = calloc(1, sizeof(*f->index));
	if (!f->index)
		return -ENOMEM;
	f->index->nr_slots = FIRST_SLOTS;
	f->index->slots = calloc(FIRST_SLOTS, sizeof(*f->index->slots));
	return f->index->slots ? 0 : -ENOMEM;
}

void foreign_devices_release(struct foreign *f)
{
	if (f->index) {
		free(f->index->slots);
		free(f->index->keys);
	}
	free(f->index);
	free(f->devices);
}

static void put_slot(struct foreign_index *x, uint64_t key, uint32_t device)
{
	uint32_t at = (uint32_t)key & (x->nr_slots - 1);

	while (x->slots[at])
		at = (at + 1) & (x->nr_slots - 1);
	x->slots[at] = device + 1;
}

static int grow_slots(struct foreign *f)
{
	struct foreign_index *x = f->index;
	uint32_t *slots = calloc(2u * x->nr_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(x->slots);
	x->slots = slots;
	x->nr_slots *= 2;
	for (uint32_t i = 0; i < f->nr_devices; i++)
		put_slot(x, x->keys[i], i);
	return 0;
}

static int grow_devices(struct foreign *f)
{
	uint32_t cap = f->cap_devices ? 2 * f->cap_devices : 16;
	struct foreign_device *devices = realloc(f->devices, cap * sizeof(*devices));
	uint64_t *keys;

	if (!devices)
		return -ENOMEM;
	f->devices = devices;
	keys = realloc(f->index->keys, cap * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	f->index->keys = keys;
	f->cap_devices = cap;
	return 0;
}

static int64_t add_device(struct foreign *f, uint64_t key, const struct foreign_device *d)
{
	int ret = 0;

	if (f->nr_devices == FOREIGN_DEVICES_MAX)
		return -ENFILE;
	if (f->nr_devices == f->cap_devices)
		ret = grow_devices(f);
	if (ret == 0 && 2 * (f->nr_devices + 1) > f->index->nr_slots)
		ret = grow_slots(f);
	if (ret < 0)
		return ret;
	f->index->keys[f->nr_devices] = key;
	f->devices[f->nr_devices] = *d;
	put_slot(f->index, key, f->nr_devices);
	return f->nr_devices++;
}

/*
 * Returns the index under a 64-bit key, or -1. Two devices with the same key are expected only
 * among 2^32 devices.
 */
static int64_t find_device(const struct foreign *f, uint64_t key)
{
	const struct foreign_index *x = f->index;
	uint32_t at = (uint32_t)key & (x->nr_slots - 1);

	for (; x->slots[at]; at = (at + 1) & (x->nr_slots - 1))
		if (x->keys[x->slots[at] - 1] == key)
			return x->slots[at] - 1;
	return -1;
}

static void copy_text(char out[FOREIGN_NAME_BYTES], const char *prefix, struct text t)
{
	snprintf(out, FOREIGN_NAME_BYTES, "%s%.*s", prefix, (int)text_len(t), t.at);
}

int64_t foreign_device(struct foreign *f, struct text host, const char *prefix, struct text id)
{
	uint64_t key = key_of(host, prefix, id), number;
	struct foreign_device d = { .number = 0 };
	int64_t at;

	if (f->nr_devices && key == f->index->last_key)
		return f->last_device;
	at = find_device(f, key);
	if (at < 0) {
		copy_text(d.host, "", host);
		copy_text(d.name, prefix, id);
		if (text_u64(id, &number) && number < FOREIGN_DEVICES_MAX)
			d.number = device_make(FOREIGN_MAJOR_NUMBERED, (uint32_t)number);
		else
			d.number = device_make(FOREIGN_MAJOR_NAMED, f->index->nr_named++);
		at = add_device(f, key, &d);
	}
	if (at >= 0) {
		f->index->last_key = key;
		f->last_device = (uint32_t)at;
	}
	return at;
}

int64_t foreign_device_of_host(struct foreign *f, struct text host, uint32_t number,
			       struct text name)
{
	uint64_t key = keyed_hash(number + (1ull << 32), host.at, text_len(host));
	struct foreign_device d = { .number = number };
	int64_t at;

	if (f->nr_devices && key == f->index->last_key)
		return f->last_device;
	at = find_device(f, key);
	if (at < 0) {
		copy_text(d.host, "", host);
		copy_text(d.name, "", name);
		if (text_len(name) == 0)
			snprintf(d.name, sizeof(d.name), "%u:%u", device_major(number),
				 device_minor(number));
		at = add_device(f, key, &d);
	}
	if (at >= 0) {
		f->index->last_key = key;
		f->last_device = (uint32_t)at;
	}
	return at;
}

int64_t foreign_device_numbered(struct foreign *f, uint32_t number, struct text name)
{
	return foreign_device_of_host(f, text_make("", 0), number, name);
}

int64_t foreign_device_only(struct foreign *f)
{
	struct foreign_device d = { .number = device_make(FOREIGN_MAJOR_NAMED, 0) };

	if (f->nr_devices)
		return 0;
	if (f->options->device)
		copy_text(d.name, "", text_make(f->options->device, strlen(f->options->device)));
	return add_device(f, 0, &d);
}
