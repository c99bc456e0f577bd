/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * filter.bpf.h: decides which devices and cgroups are traced, by read-only data that the agent sets
 * before it loads the programs.
 */
#ifndef BPF_FILTER_BPF_H
#define BPF_FILTER_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/event.h"

const volatile __u32 nr_filter_devices = 0; /* 0: every device */
const volatile __u32 filter_devices[FILTER_MAX_DEVICES] = { 0 };

const volatile __u32 nr_filter_cgroups = 0; /* 0: every cgroup */
const volatile struct filter_cgroup filter_cgroups[FILTER_MAX_CGROUPS] = { 0 };

static __always_inline bool device_wanted(u32 device)
{
	if (!nr_filter_devices)
		return device != 0;
	for (u32 i = 0; i < FILTER_MAX_DEVICES && i < nr_filter_devices; i++)
		if (filter_devices[i] == device)
			return true;
	return false;
}

/*
 * Returns the id of the ancestor at this depth of the hierarchy. These are separate functions,
 * because otherwise the compiler may compute, before the choice is made, an address that this
 * kernel does not have.
 */
static __noinline u64 ancestor_id_new(const struct cgroup *cgroup, u32 level)
{
	struct cgroup *ancestor = NULL;

	bpf_core_read(&ancestor, sizeof(ancestor), &cgroup->ancestors[level]);
	return BPF_CORE_READ(ancestor, kn, id);
}

static __noinline u64 ancestor_id_old(const struct cgroup___ids *cgroup, u32 level)
{
	u64 id = 0;

	bpf_core_read(&id, sizeof(id), &cgroup->ancestor_ids[level]);
	return id;
}

static __always_inline u64 cgroup_ancestor_id(const struct cgroup *cgroup, u32 level)
{
	const struct cgroup___ids *old = (const void *)cgroup;

	if (bpf_core_field_exists(old->ancestor_ids))
		return ancestor_id_old(old, level);
	return ancestor_id_new(cgroup, level);
}

/* Returns whether the cgroup is a wanted one, or below a wanted one. */
static __always_inline bool cgroup_wanted(const struct cgroup *cgroup)
{
	if (!nr_filter_cgroups)
		return true;
	if (!cgroup)
		return false;
	for (u32 i = 0; i < FILTER_MAX_CGROUPS && i < nr_filter_cgroups; i++) {
		u32 level = filter_cgroups[i].level;

		if ((u32)cgroup->level >= level &&
		    cgroup_ancestor_id(cgroup, level) == filter_cgroups[i].id)
			return true;
	}
	return false;
}

#endif
