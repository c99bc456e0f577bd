/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcm_xml: the files of a Palladio model, with their elements, attributes and references.
 *
 * Functions that return int return 0, or -errno with a message in im->err. Nodes belong to their
 * files, and so do the strings of attributes. The caller frees only what the comments below name.
 */
#ifndef ANALYZER_PCM_XML_H
#define ANALYZER_PCM_XML_H

#include <libxml/hash.h>
#include <libxml/tree.h>

#include "analyzer/models/arch/arch_bind.h"
#include "analyzer/models/arch/arch_model.h"

#define PCM_MAX_DEPTH 64  /* nesting of composites or of behaviours */
#define PCM_MAX_FILES 256 /* files of one model */

struct pcm_file {
	xmlDoc *doc; /* its index is that of the path among the model's files */
	xmlHashTable *ids;
	const xmlNode **applied; /* applications of the two stereotypes below */
	uint32_t nr_applied;
};

/*
 * These are the stereotypes of containers and of internal actions that the importer reads
 * (pcm_storage.c).
 */
#define PCM_STORAGE "VirtualizedStorage"
#define PCM_REQUEST "StorageRequest"

/* This struct holds facts about a type of resource, in addition to those in the model's types. */
struct pcm_type {
	char *id;
};

/* This struct is an assembly context, or the system, as one piece of the running software. */
struct pcm_part {
	const xmlNode *context;	  /* NULL for the system */
	const xmlNode *structure; /* the structure that it encapsulates */
	uint32_t parent;	  /* index of the part, or ARCH_NONE */
	uint32_t instance;	  /* ARCH_NONE for a composite */
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
	/* the system comes first, then the parts in the order of the file */
	struct pcm_part *parts;
	uint32_t nr_parts;
	const xmlNode *allocation, *environment, *system, *usage;
	const xmlNode *component; /* component whose behaviours are being read */
	unsigned depth;
	bool without_failures;
	struct arch_binding *bindings; /* containers that have a storage by a stereotype */
	uint32_t nr_bindings;
};

int pcm_fail(const struct pcm_importer *im, const xmlNode *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int pcm_out_of_memory(const struct pcm_importer *im);
struct arch_place pcm_place(const struct pcm_importer *im, const xmlNode *at);

/*
 * Opens the file of this name in the importer's directory unless it is open already. *root becomes
 * its model.
 */
int pcm_open(struct pcm_importer *im, const char *name, const xmlNode **root);
int pcm_root(struct pcm_importer *im, uint32_t file, const xmlNode **root);
void pcm_close_all(struct pcm_importer *im);

/* The functions below read elements and attributes. They return NULL if there is none. */
bool pcm_is(const xmlNode *node, const char *name);
const char *pcm_attribute(const xmlNode *node, const char *name);
/* Returns xsi:type without its prefix, or "" if there is none. */
const char *pcm_type(const xmlNode *node);
/* Return the first child element of the name, and the next one after it. */
const xmlNode *pcm_first(const xmlNode *node, const char *name);
const xmlNode *pcm_next(const xmlNode *node, const char *name);
/* Returns entityName, or otherwise the id, or otherwise the name of the element. */
const char *pcm_name(const xmlNode *node);
/*
 * Returns the element after n in the order of the document, at or below root, or NULL after the
 * last one. Texts and comments count as elements here.
 */
const xmlNode *pcm_below(const xmlNode *root, const xmlNode *n);
/* Refuses attributes and child elements that are not in these lists of words. */
int pcm_allow(const struct pcm_importer *im, const xmlNode *node, const char *attributes,
	      const char *children);

/*
 * This struct is an attribute or child of an element, and the member of a struct that gets its
 * value.
 */
struct pcm_field {
	const char *name; /* NULL at the end of a table */
	bool is_attribute, is_child, must_exist;
	size_t offset; /* offset of the member in its struct */
	/*
	 * Reads the attributes or children of this name in a node. NULL means that they are only
	 * allowed.
	 */
	int (*read)(struct pcm_importer *im, const xmlNode *node, const char *name, void *out);
	/* Reads one child of this name. */
	int (*element)(struct pcm_importer *im, const xmlNode *child, void *out);
};

#define PCM_ATTRIBUTE(name, read, offset)                    \
	{                                                    \
		name, true, false, false, offset, read, NULL \
	}
#define PCM_CHILD(name, read, offset)                        \
	{                                                    \
		name, false, true, false, offset, read, NULL \
	}
#define PCM_REFERENCE(name, read, offset)                   \
	{                                                   \
		name, true, true, false, offset, read, NULL \
	}
/* The first macro makes a child that must exist, the second one any number of children. */
#define PCM_ONE(name, element, offset)                         \
	{                                                      \
		name, false, true, true, offset, NULL, element \
	}
#define PCM_EACH(name, element, offset)                         \
	{                                                       \
		name, false, true, false, offset, NULL, element \
	}

/*
 * Reads an element into a struct, field by field in the order of the table. Attributes and children
 * that are neither in the table nor in these lists of words are refused first.
 */
int pcm_read(struct pcm_importer *im, const xmlNode *node, const char *attributes,
	     const char *children, const struct pcm_field *fields, void *to);
/* Returns a child that must exist. */
int pcm_need(const struct pcm_importer *im, const xmlNode *node, const char *name,
	     const xmlNode **child);
/* Reads a finite number; the result is fallback if the attribute is absent. */
int pcm_number(const struct pcm_importer *im, const xmlNode *node, const char *name,
	       double fallback, double *value);
/*
 * Refuses an attribute of failures that is above 0. With without_failures, it leaves the attribute
 * out and counts it.
 */
int pcm_refuse_above_0(struct pcm_importer *im, const xmlNode *node, const char *name,
		       void *unused);

/*
 * Finds the element to which `node` refers by this attribute or child element. Returns -EINVAL if
 * there is no such reference, or if it does not lead to an element of this name (NULL: of any
 * name).
 */
int pcm_follow(struct pcm_importer *im, const xmlNode *node, const char *name, const char *element,
	       const xmlNode **target);
/* Follows any number of references, as pcm_follow() follows one. The caller frees *targets. */
int pcm_follow_ids(struct pcm_importer *im, const xmlNode *node, const char *name,
		   const xmlNode ***targets, uint32_t *nr);
/* Returns the part after the # in "file#id", or an id alone; NULL if there is no reference. */
const char *pcm_reference_id(const xmlNode *node, const char *name);

/* Returns the number that was given to an element, or ARCH_NONE. */
uint32_t pcm_index(const xmlNode *node);
void pcm_set_index(const xmlNode *node, uint32_t index);

/*
 * Reads the expression in the attribute "specification" of the child as a struct stoex *. The
 * caller owns it.
 */
int pcm_expression(struct pcm_importer *im, const xmlNode *node, const char *child, void *out);
/*
 * Reads an expression as pcm_expression() does, with a text before and after the expression, such
 * as "Trunc(" and ")".
 */
int pcm_expression_in(struct pcm_importer *im, const xmlNode *node, const char *child,
		      const char *before, const char *after, struct stoex **out);
/* Reads the variables that the children of this name set, and adds them to a struct arch_sets. */
int pcm_variables(struct pcm_importer *im, const xmlNode *node, const char *child, void *out);

#endif
