// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/models/arch/arch_bind.h"
#include "analyzer/models/arch/pcm/pcm_import.h"
#include "analyzer/models/arch/pcm/pcm_parts.h"
#include "base/memory/order.h"

#define ALLOCATION ".allocation"
#define USAGE	   ".usagemodel"

struct names {
	char **items; /* owned */
	uint32_t nr;
};

static bool ends_in(const char *name, const char *ending)
{
	size_t len = strlen(name), end = strlen(ending);

	return len > end && !strcmp(name + len - end, ending);
}

static void release_names(struct names *n)
{
	for (uint32_t i = 0; i < n->nr; i++)
		free(n->items[i]);
	free(n->items);
}

/* Lists the files of a directory that have this ending, sorted. */
static int pcm_import_list(struct pcm_importer *im, const char *ending, struct names *out)
{
	DIR *d = opendir(im->dir);
	const struct dirent *e;
	int ret = 0;

	*out = (struct names){ 0 };
	if (!d)
		return err_set(im->err, errno, "%s: %s", im->dir, strerror(errno));
	while ((e = readdir(d))) {
		char **slot;

		if (!ends_in(e->d_name, ending))
			continue;
		slot = ARCH_ADD(out->items, out->nr);
		if (slot)
			*slot = strdup(e->d_name);
		if (!slot || !*slot) {
			ret = pcm_out_of_memory(im);
			goto out;
		}
	}
	if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), order_text);
out:
	closedir(d);
	return ret;
}

bool pcm_is_palladio(const char *path)
{
	struct stat st;

	return ends_in(path, ALLOCATION) || ends_in(path, USAGE) ||
	       (!stat(path, &st) && S_ISDIR(st.st_mode));
}

/* Returns the first element of a name at or below root. */
static const xmlNode *first_below(const xmlNode *root, const char *name)
{
	const xmlNode *n = root;

	while (n && !pcm_is(n, name))
		n = pcm_below(root, n);
	return n;
}

/*
 * Finds the address of the system to which a file refers, up to the #; "" if the file does not
 * say.
 */
static int system_of(struct pcm_importer *im, const char *file, const char *element, char *out,
		     size_t size)
{
	const xmlNode *root, *n;
	const char *href;
	int ret = pcm_open(im, file, &root);

	*out = 0;
	if (ret)
		return ret;
	n = first_below(root, element);
	href = n ? pcm_attribute(n, "href") : NULL;
	if (href) {
		const char *slash;

		snprintf(out, size, "%.*s", (int)strcspn(href, "#"), href);
		slash = strrchr(out, '/');
		if (slash)
			memmove(out, slash + 1, strlen(slash));
	}
	return 0;
}

#define SYSTEM_IN_ALLOCATION "system_Allocation"
#define SYSTEM_IN_USAGE	     "providedRole_EntryLevelSystemCall"

/*
 * Finds the only file of this ending that refers to the same system as another file; without
 * another file, any system will do.
 */
static int pcm_import_choose(struct pcm_importer *im, const char *ending, const char *element,
			     const char *other, const char *other_element, char **out)
{
	struct names found;
	char wanted[256] = "", system[256];
	uint32_t nr = 0, chosen = 0;
	int ret = pcm_import_list(im, ending, &found);

	if (ret)
		goto out;
	if (other && found.nr > 1)
		ret = system_of(im, other, other_element, wanted, sizeof(wanted));
	for (uint32_t i = 0; i < found.nr; i++) {
		if (*wanted)
			ret = system_of(im, found.items[i], element, system, sizeof(system));
		if (ret)
			goto out;
		if (*wanted && strcmp(system, wanted))
			continue;
		chosen = i;
		nr++;
	}
	if (nr != 1) {
		ret = err_set(im->err, EINVAL, "%s: %u %s files%s%s: expected one, or its name",
			      im->dir, nr, ending, *wanted ? " of " : "", wanted);
		goto out;
	}
	*out = found.items[chosen];
	found.items[chosen] = NULL;
out:
	release_names(&found);
	return ret;
}

/* Splits "dir", "dir/file" or "dir/file,file". Parts that the text does not name stay NULL. */
static int take_apart(struct pcm_importer *im, const char *path, char **allocation, char **usage)
{
	const char *comma = strchr(path, ',');
	char *first = comma && ends_in(path, USAGE) ? strndup(path, (size_t)(comma - path))
						    : strdup(path);
	const char *slash = first ? strrchr(first, '/') : NULL;
	const char *name = slash ? slash + 1 : first;
	int ret = 0;

	if (!first)
		return pcm_out_of_memory(im);
	if (!ends_in(first, ALLOCATION) && !ends_in(first, USAGE)) {
		im->dir = first;
		return 0;
	}
	im->dir = !slash	   ? strdup(".")
		  : slash == first ? strdup("/")
				   : strndup(first, (size_t)(slash - first));
	*(ends_in(first, ALLOCATION) ? allocation : usage) = strdup(name);
	if (comma && ends_in(first, ALLOCATION))
		*usage = strdup(comma + 1);
	if (!im->dir || (!*allocation && !*usage))
		ret = pcm_out_of_memory(im);
	free(first);
	return ret;
}

static int open_models(struct pcm_importer *im, const char *path)
{
	char *allocation = NULL, *usage = NULL;
	int ret = take_apart(im, path, &allocation, &usage);

	if (ret)
		goto out;
	if (!allocation)
		ret = pcm_import_choose(im, ALLOCATION, SYSTEM_IN_ALLOCATION, usage,
					SYSTEM_IN_USAGE, &allocation);
	if (ret)
		goto out;
	if (!usage)
		ret = pcm_import_choose(im, USAGE, SYSTEM_IN_USAGE, allocation,
					SYSTEM_IN_ALLOCATION, &usage);
	if (ret)
		goto out;
	ret = pcm_open(im, usage, &im->usage);
	if (ret)
		goto out;
	ret = pcm_open(im, allocation, &im->allocation);
	if (ret)
		goto out;
	if (!pcm_is(im->usage, "UsageModel"))
		ret = pcm_fail(im, im->usage, "expected a UsageModel");
	if (ret)
		goto out;
	if (!pcm_is(im->allocation, "Allocation"))
		ret = pcm_fail(im, im->allocation, "expected an Allocation");
out:
	free(allocation);
	free(usage);
	return ret;
}

static int follow_targets(struct pcm_importer *im)
{
	int ret = pcm_follow(im, im->allocation, "targetResourceEnvironment_Allocation",
			     "ResourceEnvironment", &im->environment);

	return ret ? ret
		   : pcm_follow(im, im->allocation, "system_Allocation", "System", &im->system);
}

static int read_model(struct pcm_importer *im, const char *path, const struct pcm_options *o)
{
	static int (*const parts[])(struct pcm_importer *) = {
		pcm_types_init,	 follow_targets, pcm_read_environment,	pcm_read_storages,
		pcm_read_system, pcm_read_usage, pcm_check_stereotypes,
	};
	int ret = 0;

	/* The reference simulator requires links too. */
	im->m->needs_links = true;
	im->m->clips = true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		ret = parts[i](im);
		if (ret)
			return ret;
	}
	if (o && o->storages)
		ret = arch_bind(im->m, o->storages, im->err);
	if (ret)
		return ret;
	ret = arch_bind_containers(im->m, im->bindings, im->nr_bindings, im->err);
	if (ret)
		return ret;
	if (o)
		ret = arch_change(im->m, path, o->settings, o->nr_settings, im->err);
	return ret ? ret : arch_finish(im->m, im->err);
}

int pcm_import(struct arch_model *m, const char *path, const struct pcm_options *o, struct err *err)
{
	struct pcm_importer im = { .m = m,
				   .err = err,
				   .without_failures = o && o->without_failures };
	int ret = open_models(&im, path);

	if (ret)
		goto out;
	ret = read_model(&im, path, o);
out:
	pcm_close_all(&im);
	for (uint32_t i = 0; i < im.nr_types; i++)
		free(im.types[i].id);
	for (uint32_t i = 0; i < im.nr_parts; i++)
		free(im.parts[i].name);
	free(im.bindings);
	free(im.types);
	free(im.parts);
	free(im.dir);
	return ret;
}
