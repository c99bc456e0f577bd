// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/system-under-study/write_cache.h"

int write_cache_init(struct write_cache *w, uint32_t nr_stripes, uint64_t capacity_pages)
{
	*w = (struct write_cache){ .nr_stripes = nr_stripes, .capacity = capacity_pages };
	w->stripes = calloc((size_t)nr_stripes + 1, sizeof(*w->stripes));
	return w->stripes ? 0 : -ENOMEM;
}

void write_cache_release(struct write_cache *w)
{
	free(w->stripes);
	*w = (struct write_cache){ 0 };
}

static uint64_t *word_of(const struct write_cache *w, uint64_t page)
{
	return &w->stripes[page / STRIPE_PAGES].dirty[page % STRIPE_PAGES / STRIP_PAGES];
}

uint32_t write_cache_need(const struct write_cache *w, uint64_t first, uint32_t nr)
{
	uint32_t need = 0;

	for (uint64_t p = first; p < first + nr; p++)
		need += !(*word_of(w, p) >> (p % STRIP_PAGES) & 1);
	return need;
}

void write_cache_add(struct write_cache *w, uint64_t first, uint32_t nr)
{
	uint32_t need = write_cache_need(w, first, nr);

	for (uint64_t p = first; p < first + nr; p++) {
		*word_of(w, p) |= 1ull << (p % STRIP_PAGES);
		w->stripes[p / STRIPE_PAGES].recent = true;
	}
	w->dirty += need;
	w->used += need;
	w->added += need;
}

static bool is_dirty(const struct stripe *s)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < SUS_DATA; i++)
		any |= s->dirty[i];
	return any != 0;
}

static uint32_t count(const uint64_t pages[SUS_DATA])
{
	uint32_t nr = 0;

	for (unsigned i = 0; i < SUS_DATA; i++)
		nr += (uint32_t)__builtin_popcountll(pages[i]);
	return nr;
}

bool write_cache_take(struct write_cache *w, uint32_t *stripe, uint64_t pages[SUS_DATA])
{
	/* Twice around: the first time may only clear marks. */
	for (uint64_t n = 0; w->dirty && n < 2ull * w->nr_stripes; n++) {
		struct stripe *s = &w->stripes[w->hand];
		uint32_t at = w->hand;

		if (++w->hand == w->nr_stripes) {
			w->hand = 0;
			w->laps++;
		}
		if (s->busy || !is_dirty(s))
			continue;
		if (s->recent) {
			s->recent = false;
			continue;
		}
		memcpy(pages, s->dirty, sizeof(s->dirty));
		memset(s->dirty, 0, sizeof(s->dirty));
		s->busy = true;
		w->dirty -= count(pages);
		*stripe = at;
		return true;
	}
	return false;
}

void write_cache_done(struct write_cache *w, uint32_t stripe, const uint64_t pages[SUS_DATA])
{
	w->stripes[stripe].busy = false;
	w->used -= count(pages);
}
