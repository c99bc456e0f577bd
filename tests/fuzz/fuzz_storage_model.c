/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a calibrated storage model. What is read is written and read again the same, and
 * what it makes of loads is refused with a reason or a net that the reader of nets takes.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/net.h"
#include "analyzer/models/storage/net/storage_predict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char storage_loads[] =
	"configuration,vm,type,pattern,clients,size_bytes,file_set_bytes\n"
	"a,1,read,random,20,4096,1g\nb,1,read,random,50,64k,100g\nc,1,read,sequential,9,8192,80g\n"
	"d,1,write,random,1,512,2g\ne,1,write,sequential,100,16k,160g\n"
	"f,1,read,random,10,4k,1g\nf,1,write,random,40,4k,1g\n"
	"g,1,read,random,10,64k,1g\ng,1,write,random,40,4k,1g\ng,2,read,random,30,64k,1g\n";

static char *storage_text(const struct storage_model *m)
{
	json_t *root;
	char *text = !storage_model_json(m, &root, NULL)
			     ? json_dumps(root, JSON_SORT_KEYS | JSON_REAL_PRECISION(17))
			     : NULL;

	json_decref(root);
	return text;
}

static void read_storage_again(const struct storage_model *m)
{
	char *first = storage_text(m), *second = NULL;
	json_t *root = first ? json_loads(first, 0, NULL) : NULL;
	struct storage_model n;

	if (!root || storage_model_from_json(&n, root, NULL))
		abort();
	second = storage_text(&n);
	if (!second || strcmp(first, second) != 0)
		abort();
	storage_model_release(&n);
	json_decref(root);
	free(first);
	free(second);
}

/* The two queues of hits and misses are brought to their time by simulation: not here. */
static bool is_simulated(const struct storage_model *m)
{
	for (int i = 0; i < STORAGE_NR_CLASSES; i++)
		if (m->classes[i].nr_cases)
			return true;
	return false;
}

static void make_storage_net(const struct storage_model *m, const struct storage_table *t, size_t i)
{
	struct storage_ask ask = STORAGE_ASK_DEFAULTS;
	struct storage_net made;
	struct err err = { 0 };
	struct net *net = NULL;
	struct buf text;

	if (storage_predict_net(&made, m, t, i, &ask, &err)) {
		if (!err.line[0])
			abort();
		return;
	}
	buf_init(&text);
	storage_net_write(&text, &made);
	buf_put_u8(&text, 0);
	if (text.error)
		abort();
	if (net_parse(&net, "fuzz", (const char *)text.data, NULL, 0, &err) && !err.line[0])
		abort();
	if (!net && !strstr(err.line, "expected"))
		abort();
	net_free(net);
	buf_release(&text);
}

/* The loads are the same for every input: read once. */
static const struct storage_table *storage_fuzz_loads(void)
{
	static struct storage_table loads;
	static struct table table;

	if (!loads.nr_configs &&
	    (table_parse(&table, "loads", storage_loads, sizeof(storage_loads) - 1, NULL) ||
	     storage_table_make(&loads, &table, NULL, STORAGE_NEEDS_FILE_SET, NULL)))
		abort();
	return &loads;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *root = json_loadb((const char *)data, size, 0, NULL);
	const struct storage_table *loads = storage_fuzz_loads();
	struct storage_model m;
	struct err err = { 0 };

	if (!root)
		return 0;
	if (storage_model_from_json(&m, root, &err)) {
		if (!err.line[0])
			abort();
		json_decref(root);
		return 0;
	}
	read_storage_again(&m);
	for (size_t i = 0; i < loads->nr_configs && !is_simulated(&m); i++)
		make_storage_net(&m, loads, i);
	storage_model_release(&m);
	json_decref(root);
	return 0;
}
