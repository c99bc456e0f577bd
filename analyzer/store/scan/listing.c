// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/scan/listing.h"

#include <errno.h>
#include <string.h>

#include "analyzer/store/damage.h"
#include "analyzer/store/folder/store_aside.h"
#include "analyzer/store/scan/inventory_text.h"
#include "base/data/json.h"
#include "base/text/shown.h"

static bool listing_wants(const struct listing *l, const char *host)
{
	for (size_t i = 0; i < l->hosts.nr; i++)
		if (strcmp(l->hosts.items[i], host) == 0)
			return true;
	return l->hosts.nr == 0;
}

static int listing_add_damaged(void *ctx, const char *path, bool is_unread, const char *why)
{
	json_t *entry = json_pack("{s:o, s:o, s:b}", "path", json_text(path), "why", json_text(why),
				  "unreadable", is_unread);

	return json_array_append_new(ctx, entry ? entry : json_null()) < 0 ? -ENOMEM : 0;
}

/*
 * Calls each() with the path of each segment that retention has set aside, until it does not return
 * 0. Returns what each() returned last, or -errno.
 */
static int listing_each_aside(const struct store *store, int (*each)(void *ctx, const char *path),
			      void *ctx, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	ret = store_aside_read(store, &text, err);
	for (char *at = (char *)text.data; ret == 0 && *at;) {
		size_t line = strcspn(at, "\n");
		bool is_last = !at[line];

		at[line] = '\0';
		ret = each(ctx, at);
		at += line + !is_last;
	}
	buf_release(&text);
	return ret;
}

static int listing_add_aside(void *ctx, const char *path)
{
	return json_array_append_new(ctx, json_text(path)) < 0 ? -ENOMEM : 0;
}

int listing_json(json_t **out, const struct listing *l, struct err *err)
{
	const struct inventory *v = &l->inventory;
	json_t *hosts = json_array(), *damaged = json_array(), *aside = json_array();
	int ret = catalog_each_damaged(store_catalog(l->store), listing_add_damaged, damaged, err);

	for (size_t i = 0; i < v->nr_hosts; i++)
		if (listing_wants(l, v->hosts[i].host))
			json_array_append_new(hosts, inventory_host_json(&v->hosts[i]));
	if (ret == 0)
		ret = listing_each_aside(l->store, listing_add_aside, aside, err);
	if (ret) {
		json_decref(hosts);
		json_decref(damaged);
		json_decref(aside);
		return ret;
	}
	*out = json_pack("{s:s, s:o, s:o, s:o, s:o}", "schema", "blkcast.store/1", "store",
			 json_text(store_dir(l->store)), "hosts", hosts, "damaged", damaged,
			 "set_aside", aside);
	return *out ? 0 : -ENOMEM;
}

static int listing_print_damaged(void *ctx, const char *path, bool is_unread, const char *why)
{
	FILE *out = ctx;

	fprintf(out, is_unread ? "unreadable: " : "damaged: ");
	shown_print(path, out);
	fprintf(out, ": ");
	shown_print(why, out);
	fputc('\n', out);
	return 0;
}

/* This struct is where listing_print_aside() prints to, and the folder of the store. */
struct listing_output {
	FILE *out;
	const char *dir;
};

/* Prints a segment that retention cannot read. It exists, and is counted like the others. */
static int listing_print_aside(void *ctx, const char *path)
{
	const struct listing_output *to = ctx;

	fprintf(to->out, "set aside: ");
	shown_print(path, to->out);
	fprintf(to->out, ": retention ended twice at it; a line less in ");
	shown_print(to->dir, to->out);
	fprintf(to->out, "/" STORE_ASIDE " has it tried again\n");
	return 0;
}

int listing_print(struct listing *l, FILE *out, struct err *err)
{
	int ret;

	for (size_t i = 0; i < l->inventory.nr_hosts; i++) {
		const struct inventory_host *h = &l->inventory.hosts[i];

		if (!listing_wants(l, h->host))
			continue;
		l->nr_hidden += inventory_host_print(h, l->utc, l->all, out);
		l->has_counted |= h->nr_counted > 0;
		l->has_kept_back |= h->ledger.total[LOSS_KEPT_BACK] > 0;
	}
	ret = catalog_each_damaged(store_catalog(l->store), listing_print_damaged, out, err);
	if (ret)
		return ret;
	return listing_each_aside(l->store, listing_print_aside,
				  &(struct listing_output){ out, store_dir(l->store) }, err);
}

static int listing_check_hosts(struct listing *l, struct err *err)
{
	const struct inventory *v = &l->inventory;
	char names[1024] = "";
	size_t len = 0;

	for (size_t i = 0; i < v->nr_hosts && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
					v->hosts[i].host);
	for (size_t i = 0; i < l->hosts.nr; i++) {
		size_t k = 0;

		while (k < v->nr_hosts && strcmp(v->hosts[k].host, l->hosts.items[i]) != 0)
			k++;
		if (k < v->nr_hosts || damage_count())
			continue;
		l->missing = l->hosts.items[i];
		return err_set(err, EINVAL,
			       "the store has no segment of this host; its hosts are: %s",
			       len ? names : "none");
	}
	return 0;
}

int listing_open(struct listing *l, const char *dir, struct err *err)
{
	int ret;

	inventory_init(&l->inventory);
	ret = store_open(&l->store, dir, false, err);
	if (!ret)
		ret = inventory_collect(&l->inventory, l->store, err);
	if (!ret)
		ret = damage_note_store(l->store, l->hosts.items, l->hosts.nr, err);
	return ret ? ret : listing_check_hosts(l, err);
}

void listing_release(struct listing *l)
{
	inventory_release(&l->inventory);
	store_close(l->store);
	l->store = NULL;
}
