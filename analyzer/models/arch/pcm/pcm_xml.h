/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcm_xml: the files of a Palladio model, their elements, attributes and references.
 *
 * Functions that return int give 0, or -errno with a line in im->err. Nodes belong to their files,
 * strings handed out as attributes too: nothing is to be freed but what says so.
 */
#ifndef ANALYZER_PCM_XML_H
#define ANALYZER_PCM_XML_H

#include <libxml/hash.h>
#include <libxml/tree.h>

#include "analyzer/models/arch/arch_model.h"

#define PCM_MAX_DEPTH 64  /* of composites in composites, behaviours in behaviours */
#define PCM_MAX_FILES 256 /* of one model */

struct pcm_file {
	xmlDoc *doc; /* its index is that of the path among the model's files */
	xmlHashTable *ids;
};

/* A kind of resource, beside the model's types. */
struct pcm_type {
	char *id;
};

/* An assembly context, or the system, as one piece of the running software. */
struct pcm_part {
	const xmlNode *context;	  /* NULL: the system */
	const xmlNode *structure; /* what it encapsulates */
	uint32_t parent;	  /* part, or ARCH_NONE */
	uint32_t instance;	  /* ARCH_NONE: a composite */
	char *name;
};

struct pcm_importer {
	struct arch_model *m;
	struct err *err;
	char *dir;
	struct pcm_file *files;
	uint32_t nr_files;
	struct pcm_type *types; /* by type */
	uint32_t nr_types;
	struct pcm_part *parts; /* the system first, then in the order of the file */
	uint32_t nr_parts;
	const xmlNode *allocation, *environment, *system, *usage;
	const xmlNode *component; /* whose behaviours are being read */
	uint32_t component_index;
	unsigned depth;
	bool without_failures;
};

int pcm_fail(const struct pcm_importer *im, const xmlNode *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int pcm_out_of_memory(const struct pcm_importer *im);
struct arch_place pcm_place(const struct pcm_importer *im, const xmlNode *at);

/* The file of this name in the importer's directory, read where it was not yet; *root its model. */
int pcm_open(struct pcm_importer *im, const char *name, const xmlNode **root);
int pcm_root(struct pcm_importer *im, uint32_t file, const xmlNode **root);
void pcm_close_all(struct pcm_importer *im);

/* Element and attribute. NULL where there is none. */
bool pcm_is(const xmlNode *node, const char *name);
const char *pcm_attribute(const xmlNode *node, const char *name);
/* xsi:type without its prefix; "" where there is none. */
const char *pcm_type(const xmlNode *node);
/* The first child element of the name, the next one after it. */
const xmlNode *pcm_first(const xmlNode *node, const char *name);
const xmlNode *pcm_next(const xmlNode *node, const char *name);
/* entityName, or else the id, or else the element's. */
const char *pcm_name(const xmlNode *node);
/* Refuses attributes and child elements that are not in these lists of words. */
int pcm_allow(const struct pcm_importer *im, const xmlNode *node, const char *attributes,
	      const char *children);
/* The child that must be there. */
int pcm_need(const struct pcm_importer *im, const xmlNode *node, const char *name,
	     const xmlNode **child);
/* A finite number; fallback where the attribute is absent. */
int pcm_number(const struct pcm_importer *im, const xmlNode *node, const char *name,
	       double fallback, double *value);
/* Refuses an attribute of failures that is above 0, or leaves it out and counts it. */
int pcm_refuse_above_0(const struct pcm_importer *im, const xmlNode *node, const char *name);

/*
 * The element that `node` refers to by this attribute or child element. -EINVAL where there is no
 * such reference, where it leads nowhere, or not to an element of this name (NULL: of any name).
 */
int pcm_follow(struct pcm_importer *im, const xmlNode *node, const char *name, const char *element,
	       const xmlNode **target);
/* The same of a reference to many, or none; *targets is for free(). */
int pcm_follow_ids(struct pcm_importer *im, const xmlNode *node, const char *name,
		   const xmlNode ***targets, uint32_t *nr);
/* What stands after the #, in "file#id" or alone; NULL without a reference. */
const char *pcm_reference_id(const xmlNode *node, const char *name);

/* The number an element was given, or ARCH_NONE. */
uint32_t pcm_index(const xmlNode *node);
void pcm_set_index(const xmlNode *node, uint32_t index);

/* The expression in attribute "specification" of the child; *out owned by the caller. */
int pcm_expression(struct pcm_importer *im, const xmlNode *node, const char *child,
		   struct stoex **out);
/* The same between two texts, as "Trunc(" and ")". */
int pcm_expression_in(struct pcm_importer *im, const xmlNode *node, const char *child,
		      const char *before, const char *after, struct stoex **out);
/* The variables that the children of this name set, behind those in *out. */
int pcm_variables(struct pcm_importer *im, const xmlNode *node, const char *child,
		  struct arch_sets *out);

#endif
