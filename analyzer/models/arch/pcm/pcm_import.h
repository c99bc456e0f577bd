/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcm_import: reads a software system as Palladio writes it (XMI of the Palladio Component Model).
 *
 * A directory holds .repository, .system, .resourceenvironment, .allocation and .usagemodel files.
 * Everything to which the allocation and the usage model refer is read. Composites and subsystems
 * are flattened: a part of one is named "outer/inner". Features that the simulation does not have
 * (events, failures, recovery, timeouts, other schedulers and others) are refused with name and
 * line, and so is any unknown element or attribute.
 *
 * A container has a storage with an I/O model by a side file (arch_bind.h), or by two stereotypes
 * of a profile that has these names. Their tagged values are keys of a storage and of a request in
 * a side file, so that both ways mean the same:
 *
 *	<stereotypeApplications xsi:type="p:VirtualizedStorage" appliedTo="rack" name="disk"
 *		read="read_s.json" write="write_s.json" file_sets="{data: 4e9}"/>
 *	<stereotypeApplications xsi:type="p:StorageRequest" appliedTo="store" request="write"
 *		size="list.INNER.BYTESIZE" sequential="0.5" file_set="data"/>
 *
 * The first is applied to a container, whose name is the storage's unless `name` is given. Without
 * a model, `name` is the storage of another container, which the two share. `resource` (hdd) is the
 * type of resource whose demands are requests. The second is applied to an internal action. A value
 * in braces is a YAML mapping. `features` may be a mapping, or a file with a feature configuration
 * of Palladio's feature models. Other stereotypes are counted and left out.
 *
 * Source: the metamodel, pcm.ecore, and the reference simulator SimuCom of the Palladio project.
 */
#ifndef ANALYZER_PCM_IMPORT_H
#define ANALYZER_PCM_IMPORT_H

#include "analyzer/models/arch/arch_read.h"

/* Returns true if path is a directory, or names an .allocation or .usagemodel file. */
bool pcm_is_palladio(const char *path);

struct pcm_options {
	/*
	 * Failure probabilities, MTTF and retries are left out, as the reference simulator does in
	 * its standard configuration. nr_left_out of the model counts them.
	 */
	bool without_failures;
	/* a side file that gives containers storages (arch_bind.h), or NULL */
	const char *storages;
	const struct arch_setting *settings; /* changes by name (arch_bind.h) */
	size_t nr_settings;
};

/*
 * Reads a model into *m, a zeroed struct, which the caller releases even after a failure. path is
 * a directory that has one .allocation and one .usagemodel file; or one of these files, and the
 * other is found by the system to which both refer; or both files, separated by a comma
 * ("a.allocation,u.usagemodel"). o NULL means that all options are off. Returns 0, -EINVAL or the
 * errno of a file that cannot be read, with file and line, -ENOTSUP for failures that are not left
 * out, or -ENOMEM. No other thread may change the files during the call.
 */
int pcm_import(struct arch_model *m, const char *path, const struct pcm_options *o,
	       struct err *err);

#endif
