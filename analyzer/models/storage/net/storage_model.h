/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_model: a calibrated model of a storage system (Noorshams, Modeling and Prediction of I/O
 * Performance in Virtualized Environments, 2015, chapter 7). It is saved with the kind "qpn" of
 * formats/model.md. calibrate_hardware.h and calibrate_mix.h create such a model, and
 * storage_predict.h computes predictions from it.
 */
#ifndef ANALYZER_STORAGE_MODEL_H
#define ANALYZER_STORAGE_MODEL_H

#include <jansson.h>

#include "analyzer/models/regression/model.h"
#include "analyzer/models/storage/fit/storage_cases.h"
#include "analyzer/models/storage/fit/storage_table.h"
#include "analyzer/models/storage/net/storage_net.h"

enum storage_kind {
	STORAGE_CACHE,	  /* section 7.4.2: classes within the cache only */
	STORAGE_HARDWARE, /* section 7.4.3: cache and RAID array, in cases */
	STORAGE_MIXED,	  /* section 7.5.2: reads and writes of one size, one VM */
	STORAGE_MULTI_VM, /* section 7.5.3: several VMs */
	STORAGE_VARIABLE, /* section 7.5.4: several VMs, several sizes */
	STORAGE_NR_KINDS,
};

/* These are the names of the kinds, "cache" and so on; NULL means that there is no such kind. */
extern const char *const storage_kind_names[STORAGE_NR_KINDS + 1];

/* This struct holds the range of the training values. If low > high, there is none. */
struct storage_range {
	double low, high;
};

/* This struct is a fit of random reads beyond the cache at one level of load. */
struct storage_load_case {
	/* the case holds up to this number of clients; infinite in the last case */
	double clients_max;
	/* nearly all requests are slow: every request is taken to pass cache and array */
	bool merged;
	struct storage_fit share; /* share of the requests that go on to the array */
	struct storage_cases hit; /* response times of hits; not used where merged */
};

#define STORAGE_LOAD_CASES 2
/* The humps count as merged if the mean share of the slow hump is at least this. */
#define STORAGE_MERGED_SHARE 0.9

struct storage_class_model {
	bool present;
	size_t nr_rows;
	struct storage_range clients, size, file_set;
	/* the cached case holds for file sets up to this size */
	double file_set_max;
	/* mean response times; nr 0 means that there is none */
	struct storage_cases cached, uncached;
	/* standard deviations of the response times of one client */
	double cached_sd_s, uncached_sd_s;
	/* number of cases for random reads beyond the cache; 0 for other classes */
	size_t nr_cases;
	struct storage_load_case cases[STORAGE_LOAD_CASES];
	double raid_cv;		      /* coefficient of variation of the array's service times */
	double mean_error, max_error; /* relative errors over the rows of several clients */
};

/* This struct holds the service times of reads or of writes (equations 7.5, 7.6, 7.10). */
struct storage_service {
	struct storage_cases fit; /* a fit of the form STORAGE_FORM_7_5 */
	double sd_s;
	/* the correction is (1 - delta0 - delta1 ln s); 0 where there is none or it was pruned */
	double delta[2], delta_p[2];
};

enum storage_vm_rule {
	STORAGE_RULE_ORDERED,  /* algorithm 4 */
	STORAGE_RULE_ADJUSTED, /* algorithm 5 */
	STORAGE_RULE_SHARED,   /* weights in proportion to clients^kappa */
	STORAGE_RULE_LOCAL,    /* VMs share by min(clients, cap)^kappa, and each has its own phi */
	/* storage_parts.h: several servers instead of weights of one server */
	STORAGE_RULE_PARTS,
	STORAGE_NR_RULES,
};

extern const char *const storage_rule_names[STORAGE_NR_RULES + 1];

/*
 * This struct is a server that reads and writes share: seconds per request, and seconds per byte.
 * No value is below 0.
 */
struct storage_shared {
	double base_s[2], per_byte_s[2];
};

struct storage_parts {
	bool present;
	/* response time of one client alone as a function of the size */
	struct storage_cases alone[2];
	size_t nr_shared;
	struct storage_shared shared[STORAGE_SHARED_MAX];
	/* requests that a VM lets into the system at a time; at least 1 */
	double depth;
	/* as in struct storage_mix, but of one VM; if technique is NULL, phi is 1 */
	struct model phi;
	double phi_low, phi_high; /* range of phi in the training data */
	size_t nr_phi;
	/* mean relative error of the busiest server's utilization over the mixes */
	double utilization_error;
	/* mean relative error of the mixes of one VM, each with its best phi */
	double depth_error;
};

struct storage_mix {
	struct storage_service service[2]; /* reads, writes */
	bool by_size;			   /* phi depends on the ratio of sizes as well */
	/* alpha / beta as a function of the variables in calibrate_phi.h */
	struct model phi;
	/* measured utilization of the one server; both service times are divided by it */
	struct model busy;
	bool has_busy;
	/* range in the training data; predictions stay within a factor of 4 of it */
	double phi_low, phi_high;
	size_t nr_phi;
	enum storage_vm_rule rule;
	struct storage_parts parts;
	double kappa[2];
	double vm_kappa, vm_cap; /* parameters of STORAGE_RULE_LOCAL */
	bool inversion;
	/* mean relative errors; NaN means not tried */
	double rule_error[STORAGE_NR_RULES], inversion_error;
	struct storage_range clients, size[2], vms;
	/* relative errors of reads and of writes over the mixed configurations */
	double mean_error[2];
	size_t nr_rows;
};

struct storage_model {
	enum storage_kind kind;
	/* for the kinds cache and hardware */
	struct storage_class_model classes[STORAGE_NR_CLASSES];
	struct storage_mix mix; /* for the other kinds */
	uint64_t seed;
};

/*
 * This table holds the fields of a file of kind "qpn"; docs/model-qpn.schema.json is made from it.
 */
extern const struct fields storage_model_table;

void storage_model_release(struct storage_model *m);
/*
 * Sets *root to the model as JSON, which the caller owns, or to NULL after an error. Returns 0,
 * -ENOMEM, or -EDOM if a number of the model is not finite, with a message in err.
 */
int storage_model_json(const struct storage_model *m, json_t **root, struct err *err);
/*
 * Reads a model from JSON. Returns 0, -EINVAL with a message that says what is wrong, or -ENOMEM.
 */
int storage_model_from_json(struct storage_model *m, const json_t *root, struct err *err);

/*
 * Reads a model from a file of kind "qpn". Returns 0, -EINVAL or -ENOENT with the name of the
 * file, or -ENOMEM.
 */
int storage_model_read(struct storage_model *m, const char *path, struct err *err);

static inline bool storage_outside(const struct storage_range *r, double x)
{
	return !(x >= r->low && x <= r->high);
}
static inline void storage_range_take(struct storage_range *r, double x)
{
	r->low = x < r->low ? x : r->low;
	r->high = x > r->high ? x : r->high;
}

#endif
