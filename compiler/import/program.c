/*
 * program.c - a JAX program, from its bytes to a module.
 *
 * requires  StableHLO text
 * leaves    a module of level L_global: functions inlined, placements as written; arguments
 *           and results by their paths in module.named
 */
#include <inttypes.h>
#include <string.h>

#include "import/builders.h"

/* ---- what it is */

static const char print_text[] = "lowered.as_text(debug_info=True) is its text";

static bool
is_bytecode(const SourceFile *f)
{
	return f->length >= 4 && memcmp(f->text, "ML\xEFR", 4) == 0;
}

static bool
is_called(const SourceFile *f, const char *ending)
{
	const char *dot = strrchr(f->path, '.');

	return dot && !strcmp(dot, ending);
}

bool
import_knows(const SourceFile *f)
{
	return is_bytecode(f) || is_called(f, ".jax_export") || is_called(f, ".mlir")
		|| is_called(f, ".py") || mlir_begins(f->text);
}

/* What has to be lowered, or printed, first. */
static bool
is_text(Session *s, int file)
{
	const SourceFile *f = source_file(s, file);
	Range top = {.file = file, .line = 1};

	if (is_called(f, ".py")) {
		diag(s, DIAG_jax_binary, top, "this is Python, not what JAX lowers it to");
		diag_note(s, nowhere, "JAX_DUMP_IR_TO=ir python %s writes that of each jit",
			f->path);
	} else if (is_bytecode(f)) {
		diag(s, DIAG_jax_binary, top, "this is MLIR bytecode, not text");
		diag_note(s, nowhere, "%s", print_text);
	} else if (is_called(f, ".jax_export")) {
		diag(s, DIAG_jax_binary, top, "this is what jax.export serializes, not text");
		diag_note(s, nowhere, "%s; here that of", print_text);
		diag_line(s,
			"jax.jit(jax.export.deserialize(open(FILE, "
			"'rb').read()).call).lower(...)");
	} else {
		return true;
	}
	return false;
}

/* ---- functions */

static Table *
rows_by_name(Arena *a)
{
	static const ImportRow rows[] = {
#define IMPORT(name, builder, detail, reach) {name, import_op_##builder, detail, reach},
#include "import/ops.def"
#undef IMPORT
	};
	Table *table = table_new(a);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		table_set(table, rows[i].name, (void *)&rows[i]);
	return table;
}

static bool
find_functions(Import *in)
{
	const MlirOp *module = in->program->module;
	const MlirBlock *top = module->regions.n == 1 ? module->regions.v[0] : NULL;

	for (int i = 0; top && i < top->ops.n; i++) {
		const MlirOp *op = top->ops.v[i];
		if (strcmp(op->name, "func.func") || op->regions.n != 1)
			continue;
		if (!table_add(in->functions, word_of(in, op, "sym_name"), (void *)op))
			return read_wrong(in, op->range, "there are two functions @%s",
				word_of(in, op, "sym_name"));
	}
	if (!top)
		return read_wrong(in, module->range, "this is no module");
	composites_call(in);
	return true;
}

/* ---- the entry */

static const MlirAttr *
own_attribute(Import *in, const MlirOp *function, const char *list, int i, const char *name)
{
	const MlirAttr *all = attr_of(in, function, list);
	const MlirAttr *own = all && i < all->items.n ? all->items.v[i] : NULL;

	return own && own->kind == MLIR_dict ? mlir_attribute(in->program, own->items, name)
					     : NULL;
}

/* Where it is, in either spelling: *sharding is NULL where nothing is said. */
static bool
own_sharding(Import *in, const MlirOp *function, const char *list, int i, int rank,
	const MlirAttr **sharding)
{
	const MlirAttr *tiles = own_attribute(in, function, list, i, "mhlo.sharding");

	*sharding = own_attribute(in, function, list, i, "sdy.sharding");
	if (!*sharding && tiles)
		*sharding = tiles_sharding(in, tiles, rank, &(Numbers){0});
	return *sharding || !tiles;
}

/* As the program calls it: a value may be called otherwise where HLO has the word. */
static const char *
add_named(Import *in, const char *name, Value *v)
{
	Module *m = in->module;
	bool is_free = !table_get(in->named, name);
	Named named = {is_free ? name : v->name, v, v->type, v->placement};

	table_add(in->named, named.name, v);
	APPEND(in->session->arena, m->named, m->nnamed, named);
	return named.name;
}

/* Then the program may overwrite it; the memory of others stays the caller's. */
static bool
is_donated(Import *in, const MlirOp *function, int i)
{
	const MlirAttr *donor = own_attribute(in, function, "arg_attrs", i, "jax.buffer_donor");

	return own_attribute(in, function, "arg_attrs", i, "tf.aliasing_output")
		|| (donor && donor->kind == MLIR_word && !strcmp(donor->text, "true"));
}

/* JAX's text of a result. */
static const char *
result_text(Import *in, const MlirOp *function, int i, bool *given)
{
	const MlirAttr *info = own_attribute(in, function, "res_attrs", i, "jax.result_info");
	const char *text = info && info->kind == MLIR_string ? info->text : "";

	*given = info != NULL;
	if (*text == '[' || *text == '.' || !*text) /* of JAX 0.4 */
		text = arena_printf(in->session->arena, "result%s", text);
	return text;
}

static void
note_path(Import *in, const char *text)
{
	const char *path = path_dotted(in->arena, text), *other;

	if (!table_add(in->paths, path, (void *)text) && (other = table_get(in->paths, path))
		&& strcmp(other, text))
		table_set(in->paths, path, "");
}

static void
note_paths(Import *in, const MlirOp *function)
{
	const MlirBlock *block = function->regions.v[0];
	const MlirAttr *results = attr_of(in, function, "res_attrs");
	bool given;

	in->paths = table_new(in->arena);
	for (int i = 0; i < block->params.n; i++) {
		const MlirParam *param = block->params.v[i];
		if (place_text(in, param->place))
			note_path(in, place_text(in, param->place));
	}
	for (int i = 0; results && i < results->items.n; i++)
		note_path(in, result_text(in, function, i, &given));
}

/* What is called `text` in Python: with dots, unless that may be another. */
static const char *
told_name(Import *in, const char *text, const char *path)
{
	const char *known = text ? table_get(in->paths, path) : NULL;

	return known && !*known ? text : path;
}

/* Its axes divide the dims of an argument or result, or JAX does not take it. */
static bool
axes_divide(Import *in, const char *name, const Value *v)
{
	for (int d = 0; d < v->type.rank; d++) {
		AxisList axes = placement_dim(&v->placement, d);
		int64_t ways = axes_size(&axes);
		Text t = {0};
		if (v->type.dims[d] % ways == 0)
			continue;
		text_axes(&t, &in->module->mesh, &axes);
		diag(in->session, DIAG_indivisible, v->def ? v->def->range : v->range,
			"dim %d of size %" PRId64
			" of %s cannot be split over %s, which %s %" PRId64
			" devices: JAX refuses such arguments and results",
			d, v->type.dims[d], name, t.s, axes.n > 1 ? "are" : "is", ways);
		text_free(&t);
		return false;
	}
	return true;
}

static bool
add_params(Import *in, const MlirOp *function, Value **args)
{
	const MlirBlock *block = function->regions.v[0];

	for (int i = 0; i < block->params.n; i++) {
		const MlirParam *param = block->params.v[i];
		const MlirAttr *sharding;
		const char *path = place_path(in, param->place), *name;
		const char *text = place_text(in, param->place);
		Type type;
		if (!type_read(in, function, param->type, &type)
			|| !own_sharding(in, function, "arg_attrs", i, param->type->rank,
				&sharding))
			return false;
		if (!path)
			path = arena_printf(in->session->arena, "arg%d", i);
		Value *v = block_add_param(in->module->entry, path, &type);
		v->placement = placement_open(type.rank);
		v->annotated = sharding != NULL;
		v->range = param->range;
		v->pair = type_is_complex(param->type);
		if (sharding && !sharding_read(in, sharding, type.rank, v->pair, &v->placement))
			return false;
		name = told_name(in, text, path);
		if (!asked_of(in, name, v, &v->placement, &v->annotated)
			|| !axes_divide(in, name, v))
			return false;
		v->kept = !is_donated(in, function, i);
		const MlirAttr *memory =
			own_attribute(in, function, "arg_attrs", i, "mhlo.memory_kind");
		v->hosted =
			memory && memory->kind == MLIR_string && memory_is_host(memory->text);
		args[i] = v;
		table_set(in->module->python, v->name, (void *)(text ? text : path));
		add_named(in, name, v);
	}
	return true;
}

static bool
add_results(Import *in, const MlirOp *function, int n, Value **returned)
{
	Module *m = in->module;
	Value **outputs = NEW_ARRAY(in->arena, Value *, n + 1);

	for (int i = 0; i < n; i++) {
		const MlirAttr *sharding;
		bool given;
		const char *text = result_text(in, function, i, &given);
		const char *path = path_dotted(in->arena, text);
		const char *name = told_name(in, text, path);
		const Op *maker = returned[i]->def;
		in->make.range = maker && maker->range.file ? maker->range : function->range;
		in->make.label = "return";
		in->make.block = m->entry;
		Value *v = make_unary(named(in->make, path), O_output, returned[i]);
		if (!v)
			return false;
		v->pair = returned[i]->pair;
		if (!own_sharding(in, function, "res_attrs", i, v->type.rank - v->pair,
			    &sharding))
			return false;
		if (sharding
			&& !sharding_read(in, sharding, v->type.rank, v->pair, &v->placement))
			return false;
		v->annotated = sharding != NULL;
		if (!asked_of(in, name, v, &v->placement, &v->annotated)
			|| !axes_divide(in, name, v))
			return false;
		outputs[i] = v;
		table_set(m->python, v->name, (void *)(given ? text : "the result"));
		Named result = {add_named(in, name, v), v, v->type, v->placement};
		APPEND(in->session->arena, m->results, m->nresults, result);
	}
	make_return(m->entry, n, outputs, function->range, "return");
	return true;
}

static bool
read_entry(Import *in)
{
	const MlirOp *main = table_get(in->functions, "main");
	Scope scope = {table_new(in->arena), NULL};
	int n = 0;

	if (!main)
		return read_wrong(in, in->program->module->range, "there is no function @main");
	int64_t replicas = integer_of(in, in->program->module, "mhlo.num_replicas", 1);
	if (replicas > 1)
		return read_wrong(in, in->program->module->range,
			"the program runs in %lld replicas, as older jax.pmap has it: what is "
			"read is one program for all devices, of jit or shard_map",
			(long long)replicas);
	const MlirBlock *block = main->regions.v[0];
	Value **args = NEW_ARRAY(in->arena, Value *, block->params.n + 1);
	in->block = in->module->entry;
	in->scope = &scope;
	in->make = make_at(in, main);
	note_paths(in, main);
	if (!add_params(in, main, args))
		return false;
	Value **returned = read_block(in, block, args, &n);
	if (!returned)
		return false;
	if (n == 0)
		return read_wrong(in, main->range, "@main returns nothing");
	return add_results(in, main, n, returned);
}

/* What is missing, how often, where, in one message. */
static void
list_missing(Import *in, DiagCode code, Lack lack, const char *words)
{
	const Missing *first = NULL;
	int n = 0;

	for (int i = 0; i < table_count(in->missing); i++) {
		const Missing *missing = table_value(in->missing, i);
		n += missing->lack == lack;
		first = !first && missing->lack == lack ? missing : first;
	}
	if (!first)
		return;
	diag(in->session, code, first->range, "%s of this program %s %s",
		n > 1 ? "some ops" : "an op", n > 1 ? "have" : "has", words);
	for (int i = 0; i < table_count(in->missing); i++) {
		const Missing *missing = table_value(in->missing, i);
		if (missing->lack == lack)
			diag_line(in->session, "%s:%d: %s%s",
				source_path(in->session, missing->range.file),
				missing->range.line, missing->what,
				missing->n > 1
					? arena_printf(in->arena, " (%d times)", missing->n)
					: "");
	}
}

/* step of @jit_step. */
static const char *
module_name(Import *in)
{
	const char *name = word_of(in, in->program->module, "sym_name");

	if (name && !strncmp(name, "jit_", 4))
		name += 4;
	return name && is_identifier(name) ? name : "jax";
}

Module *
import_program(Session *s, int file, const ImportOptions *options)
{
	if (!is_text(s, file))
		return NULL;
	Arena *a = s->arena; /* names and labels stay in the module */
	Import in = {.session = s, .arena = a, .errors = diag_errors(s)};

	in.program = mlir_read(s, file);
	if (in.program) {
		in.rows = rows_by_name(a);
		in.complex = read_complex;
		in.functions = table_new(a);
		in.named = table_new(a);
		in.missing = table_new(a);
		in.groups = table_new(a);
		in.used = table_new(a);
		in.module = module_new(s, module_name(&in));
		in.module->python = table_new(a);
		in.module->columns = table_new(a);
		exported_read(&in);
	}
	bool right = in.program && find_functions(&in) && program_is_sound(&in)
		&& empty_drop(&in) && tiles_mesh(&in) && mesh_read(&in, options)
		&& shard_maps_read(&in) && program_fits(&in) && asked_read(&in, options)
		&& read_entry(&in);
	if (in.program && diag_errors(s) == in.errors)
		list_missing(&in, DIAG_jax_op, LACK_op, "no counterpart in shdc");
	right = right && diag_errors(s) == 0 && asked_all_met(&in);
	if (right) {
		join_shifts(in.module, a);
		note_columns(&in);
		vouch_results(in.module);
	}
	if (right)
		list_missing(&in, DIAG_jax_left_out, LACK_result,
			"no result; left out, with what is done on the host");
	if (right)
		list_missing(&in, DIAG_jax_opaque, LACK_formula,
			"no counterpart in shdc; planned as memory that is read and written, "
			"not run");
	return right ? in.module : NULL;
}
