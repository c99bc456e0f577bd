/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcm_import: a software system as Palladio writes it (XMI of the Palladio Component Model).
 *
 * A directory holds .repository, .system, .resourceenvironment, .allocation and .usagemodel files;
 * all that the allocation and the usage model refer to is read. Composites and subsystems are
 * flattened: a part of one is named "outer/inner". What the simulation has no counterpart for
 * (events, failures, recovery, timeouts, profiles, other schedulers...) is refused by name and
 * line, and so is any element or attribute that is not known here.
 * Source: the metamodel, pcm.ecore, and the reference simulator SimuCom of the Palladio project.
 */
#ifndef ANALYZER_PCM_IMPORT_H
#define ANALYZER_PCM_IMPORT_H

#include "analyzer/models/arch/arch_model.h"

/* True where path is a directory, or names an .allocation or .usagemodel file. */
bool pcm_is_palladio(const char *path);

struct pcm_options {
	/*
	 * Failure probabilities, MTTF and retries are left out, as the reference simulator does in
	 * its standard configuration, and counted in nr_left_out of the model.
	 */
	bool without_failures;
};

/*
 * Reads a model into *m, a zeroed struct, which the caller releases, also after a failure. path:
 * the directory, where it has one .allocation and one .usagemodel; else the one to take, the other
 * found by the system both are about; or both, separated by a comma ("a.allocation,u.usagemodel").
 * o NULL: all options off. 0; -EINVAL or the errno of a file that cannot be read, with file and line; -ENOMEM. Not safe
 * against a second thread that changes the files meanwhile.
 */
int pcm_import(struct arch_model *m, const char *path, const struct pcm_options *o,
	       struct err *err);

#endif
