/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_read: what the parts of the reader of YAML nets share. For users: net.h.
 *
 * Each function returns 0, or -EINVAL or -ENOMEM with "FILE:LINE: what" in r->err.
 */
#ifndef ANALYZER_NET_READ_H
#define ANALYZER_NET_READ_H

#include "analyzer/models/net/expr.h"
#include "analyzer/models/net/net.h"
#include "base/yaml_tree.h"

#define NET_READ_NAME_BYTES  256
#define NET_READ_MAX_SUBNETS 64

struct net_read_subnet {
	char name[NET_READ_NAME_BYTES];
	uint32_t input, output; /* places */
};

struct net_reader {
	struct yaml_tree *tree;
	struct net *net;
	struct expr_scope scope;
	const struct net_setting *settings;
	size_t nr_settings;
	struct net_read_subnet subnets[NET_READ_MAX_SUBNETS];
	size_t nr_subnets;
	struct err *err;
};

/* The value of an expression; above 0; a whole number within bounds. */
int net_read_value(struct net_reader *r, const struct yaml_node *node, double *value);
int net_read_positive(struct net_reader *r, const struct yaml_node *node, double *value);
int net_read_count(struct net_reader *r, const struct yaml_node *node, uint64_t low, uint64_t high,
		   uint64_t *count);

int net_read_out_of_memory(struct net_reader *r);
int net_read_full_name(struct net_reader *r, const struct yaml_node *at, const char *prefix,
		       const char *name, char out[NET_READ_NAME_BYTES]);
int net_read_find_colour(struct net_reader *r, const struct yaml_node *at, const char *name,
			 uint32_t *colour);
/* The place of a name: where it is a subnet, its output (to take from) or its input. */
int net_read_resolve(struct net_reader *r, const struct yaml_node *at, const char *prefix,
		     const char *name, bool take, uint32_t *place);
int net_read_transitions(struct net_reader *r, const struct yaml_node *node, const char *prefix);
int net_read_probes(struct net_reader *r, const struct yaml_node *node);

#endif
