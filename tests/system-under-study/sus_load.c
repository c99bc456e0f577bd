// SPDX-License-Identifier: Apache-2.0
#include "tests/system-under-study/sus_load.h"

uint32_t load_clients(const struct load *l)
{
	uint32_t nr = 0;

	for (unsigned i = 0; i < l->nr_classes; i++)
		nr += l->classes[i].clients;
	return nr;
}

uint64_t load_base(const struct load *l, unsigned vm)
{
	uint64_t files = 0;

	for (unsigned i = 0; i < vm; i++)
		files += l->files[i];
	return files * SUS_FILE;
}

uint64_t load_bytes(const struct load *l)
{
	return load_base(l, l->nr_vms);
}

void client_init(struct client *c, uint32_t class, uint64_t seed, uint32_t number)
{
	*c = (struct client){ .class = class };
	rng_stream(&c->rng, seed, number);
}

uint64_t client_next(struct client *c, const struct load *l)
{
	const struct load_class *k = &l->classes[c->class];
	uint32_t places = SUS_FILE / k->size_bytes, place;

	if (!c->left) {
		c->left = SUS_REQUESTS;
		c->file = (load_base(l, k->vm) +
			   rng_below(&c->rng, l->files[k->vm]) * (uint64_t)SUS_FILE) /
			  512;
		c->place = places > SUS_REQUESTS
				   ? (uint32_t)rng_below(&c->rng, places - SUS_REQUESTS + 1)
				   : 0;
	}
	c->left--;
	place = k->sequential ? c->place++ % places : (uint32_t)rng_below(&c->rng, places);
	return c->file + (uint64_t)place * (k->size_bytes / 512);
}
