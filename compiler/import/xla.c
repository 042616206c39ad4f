/*
 * xla.c - the collectives of XLA's partitioned program, from its text.
 *
 * An instruction is a line, and of most of them only the name is looked at: any op may be
 * there. Loops count as often as they go round, of branches the one that moves most.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "import/xla.h"

enum {
	MOST_NESTED = 100,	  /* loops and calls in each other */
	MOST_TRANSFERS = 1 << 20, /* in all */
	MOST_FRAMES = 1 << 16,	  /* of each table */
	MOST_HOPS = 100,	  /* from a frame outwards */
};

/* What the walk looks at. */
typedef enum Opcode {
	X_call,
	X_compare,
	X_conditional,
	X_constant,
	X_copy,
	X_dynamic_slice,
	X_tuple,
	X_while,
	X_other
} Opcode;

static const char *const opcode_names[X_other] = {
	[X_call] = "call",
	[X_compare] = "compare",
	[X_conditional] = "conditional",
	[X_constant] = "constant",
	[X_copy] = "copy",
	[X_dynamic_slice] = "dynamic-slice",
	[X_tuple] = "tuple",
	[X_while] = "while",
};

typedef struct Instruction {
	const char *name, *type, *operands, *attributes;
	Opcode opcode;
	OpKind collective; /* OP_COUNT: it is none */
	int line;
	bool root;
} Instruction;

typedef struct Computation {
	Instruction *all;
	int n;
	Table *named;
	bool entered; /* it is being walked through */
} Computation;

/* FileNames, FileLocations, StackFrames: rows by their numbers. */
typedef struct Frame {
	const char *path;
	int64_t file, line, location, parent;
} Frame;

typedef struct Xla {
	Session *session;
	Arena *arena;
	int file;
	const Mesh *mesh;
	Table *computations;
	Computation *entry;
	Frame *frames; /* of all tables */
	int depth;
	XlaPlan *plan;
} Xla;

static bool
wrong(Xla *xla, int line, const char *what)
{
	int begin = source_file(xla->session, xla->file)->line_starts[line - 1];
	Range where = {.file = xla->file, .line = line, .begin = begin, .end = begin};

	diag(xla->session, DIAG_hlo_invalid, where, "%s", what);
	return false;
}

/* ---- from lines to instructions */

/* Behind the bracket that closes the one at *c; the end if none does. */
static const char *
behind_brackets(const char *c)
{
	int depth = 0;
	bool string = false;

	for (; *c; c++) {
		if (*c == '"' && c[-1] != '\\')
			string = !string;
		if (string)
			continue;
		depth += strchr("([{", *c) != NULL;
		depth -= strchr(")]}", *c) != NULL;
		if (!depth)
			return c + 1;
	}
	return c;
}

static Opcode
opcode_of(const char *word)
{
	int x = 0;

	while (x < X_other && strcmp(opcode_names[x], word))
		x++;
	return (Opcode)x;
}

/* all-gather, or all-gather-start */
static OpKind
collective_of(const char *word)
{
	size_t n = strlen(word);

	if (n > 6 && !strcmp(word + n - 6, "-start"))
		n -= 6;
	for (int k = 0; k < OP_COUNT; k++)
		if (collectives[k].turns > 0 && strlen(ops[k].hlo) == n
			&& !strncmp(ops[k].hlo, word, n))
			return (OpKind)k;
	return OP_COUNT;
}

/* %h = f32[8,64]{1,0} dot(%x, %W), attributes */
static bool
read_instruction(Xla *xla, const char *c, int line, Computation *of)
{
	Instruction instr = {.line = line};
	Arena *a = xla->arena;

	c += strspn(c, " ");
	instr.root = !strncmp(c, "ROOT ", 5);
	c += instr.root ? 5 : 0;
	c += *c == '%';
	const char *equals = strstr(c, " = "), *type = equals ? equals + 3 : NULL;
	const char *end = !type ? NULL
		: *type == '('	? behind_brackets(type)
				: type + strcspn(type, " ");
	if (!end || *end != ' ')
		return wrong(xla, line, "this is no instruction of HLO");
	const char *opcode = end + 1, *open = strchr(opcode, '(');
	if (!open)
		return wrong(xla, line, "this instruction has no operands");
	const char *close = behind_brackets(open);
	instr.name = arena_strndup(a, c, (size_t)(equals - c));
	instr.type = arena_strndup(a, type, (size_t)(end - type));
	const char *word = arena_strndup(a, opcode, (size_t)(open - opcode));
	instr.opcode = opcode_of(word);
	instr.collective = collective_of(word);
	instr.operands = arena_strndup(a, open, (size_t)(close - open));
	instr.attributes = arena_strndup(a, close, strlen(close));
	APPEND(a, of->all, of->n, instr);
	return true;
}

/* %region_0.5 (param: (s32[], f32[2])) -> f32[2] {, or ENTRY %main ...; NULL: no such line */
static Computation *
read_heading(Xla *xla, const char *c)
{
	size_t n = strlen(c);
	bool entry = !strncmp(c, "ENTRY ", 6);

	if (n < 2 || c[n - 1] != '{' || isspace((unsigned char)*c)
		|| !strncmp(c, "HloModule", 9))
		return NULL;
	c += entry ? 6 : 0;
	c += *c == '%';
	Computation *new = NEW(xla->arena, Computation);
	table_set(xla->computations, arena_strndup(xla->arena, c, strcspn(c, " (")), new);
	if (entry)
		xla->entry = new;
	return new;
}

/* "3 {file_location_id=1 parent_frame_id=2}", "1 "train.py"" */
static bool
read_row(Xla *xla, const char *c)
{
	static const struct {
		const char *key;
		size_t at;
	} fields[] = {
		{"file_name_id=", offsetof(Frame, file)},
		{" line=", offsetof(Frame, line)},
		{"file_location_id=", offsetof(Frame, location)},
		{"parent_frame_id=", offsetof(Frame, parent)},
	};
	char *end;
	long id = strtol(c, &end, 10);

	if (end == c || id < 1 || id >= MOST_FRAMES || *end != ' ')
		return false;
	Frame *frame = &xla->frames[id];
	if (end[1] == '"' && !frame->path)
		frame->path = arena_strndup(xla->arena, end + 2, strcspn(end + 2, "\""));
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		const char *found = end[1] == '{' ? strstr(end, fields[i].key) : NULL;
		int64_t *field = (int64_t *)((char *)frame + fields[i].at);
		if (found)
			*field = strtoll(found + strlen(fields[i].key), NULL, 10);
	}
	return true;
}

static bool
read_lines(Xla *xla)
{
	const SourceFile *f = source_file(xla->session, xla->file);
	Computation *open = NULL;
	bool functions = false;

	for (int i = 0; i < f->nlines; i++) {
		const char *from = f->text + f->line_starts[i];
		const char *line = arena_strndup(xla->arena, from, strcspn(from, "\r\n"));
		if (open && *line == '}')
			open = NULL;
		else if (open && strstr(line, " = ")) {
			if (!read_instruction(xla, line, i + 1, open))
				return false;
		} else if (!open) {
			functions = isdigit((unsigned char)*line)
				? functions
				: !strcmp(line, "FunctionNames");
			if (!functions)
				read_row(xla, line);
			open = read_heading(xla, line);
		}
	}
	return xla->entry || wrong(xla, 1, "XLA's program has no ENTRY");
}

/* ---- what an instruction says */

/* f32[2,16]{1,0}, or of a tuple all in it. */
static double
bytes_of(const char *type)
{
	double all = 0;

	for (const char *open = strchr(type, '['); open; open = strchr(open + 1, '[')) {
		const char *word = open;
		while (word > type && isalnum((unsigned char)word[-1]))
			word--;
		const char *digits = word + strcspn(word, "0123456789[");
		long width = digits < open ? strtol(digits, NULL, 10) : 0; /* f8e4m3fn is 8 */
		double bits = (double)width, n = 1;
		if (!strncmp(word, "pred[", 5))
			bits = 8;
		for (const char *c = open + 1; *c && *c != ']'; c++) {
			char *end;
			double dim = strtod(c, &end);
			n *= end > c ? dim : 1;
			if (end > c)
				c = end - 1;
		}
		all += bits / 8 * n;
	}
	return all;
}

/* What is behind the = of an attribute; NULL: it has none. */
static const char *
attribute(const Instruction *instr, const char *name)
{
	const char *found = strstr(instr->attributes, name);

	return found ? found + strlen(name) : NULL;
}

static Computation *
named_computation(Xla *xla, const Instruction *instr, const char *name)
{
	const char *text = attribute(instr, name);

	if (!text)
		return NULL;
	text += *text == '%';
	return table_get(xla->computations,
		arena_strndup(xla->arena, text, strcspn(text, ",} ")));
}

static const Instruction *
find(Xla *xla, Computation *of, const char *name)
{
	if (!of->named) {
		of->named = table_new(xla->arena);
		for (int i = 0; i < of->n; i++)
			table_set(of->named, of->all[i].name, &of->all[i]);
	}
	return table_get(of->named, name);
}

/* The name of the i-th operand; NULL: there are fewer. */
static const char *
operand(Xla *xla, const Instruction *instr, int i)
{
	const char *c = instr->operands;

	for (; (c = strchr(c, '%')); i--, c++)
		if (i == 0)
			return arena_strndup(xla->arena, c + 1, strcspn(c + 1, ",) "));
	return NULL;
}

static bool
uses(const Instruction *instr, const char *name)
{
	size_t n = strlen(name);

	for (const char *c = instr->operands; (c = strchr(c, '%')); c++)
		if (!strncmp(c + 1, name, n) && strchr(",) ", c[1 + n]))
			return true;
	return false;
}

/* ---- how often */

static bool
constant_of(const Instruction *instr, int64_t *number)
{
	char *end;

	if (!instr || instr->opcode != X_constant)
		return false;
	*number = strtoll(instr->operands + 1, &end, 10);
	return end > instr->operands + 1 && *end == ')';
}

/* What makes a value, before it was copied; NULL: nothing here. */
static const Instruction *
maker(Xla *xla, Computation *of, const char *name)
{
	const Instruction *instr = NULL;

	for (int hops = 0; name && hops < MOST_HOPS; hops++) {
		instr = find(xla, of, name);
		if (!instr || instr->opcode != X_copy)
			return instr;
		name = operand(xla, instr, 0);
	}
	return NULL;
}

/* What a value of a loop begins with; 0 where that is not seen. */
static int64_t
start_of(Xla *xla, Computation *outer, const Instruction *loop, int64_t index)
{
	const Instruction *tuple = maker(xla, outer, operand(xla, loop, 0));
	int64_t start = 0;

	if (tuple && tuple->opcode == X_tuple)
		constant_of(maker(xla, outer, operand(xla, tuple, (int)index)), &start);
	return start;
}

/* Of a loop that counts by one until it is not below a constant any more. */
static bool
trips_of(Xla *xla, Computation *outer, const Instruction *loop, int64_t *trips)
{
	Computation *condition = named_computation(xla, loop, "condition=");
	const Instruction *root = NULL;
	int64_t limit = 0, index = 0;

	for (int i = 0; condition && i < condition->n; i++)
		if (condition->all[i].root)
			root = &condition->all[i];
	if (!root || root->opcode != X_compare || !attribute(root, "direction=LT"))
		return false;
	const Instruction *counter = maker(xla, condition, operand(xla, root, 0));
	const char *at = counter ? attribute(counter, "index=") : NULL;
	if (!at || !constant_of(maker(xla, condition, operand(xla, root, 1)), &limit))
		return false;
	index = strtoll(at, NULL, 10);
	*trips = limit - (index < 1 << 16 ? start_of(xla, outer, loop, index) : 0);
	return *trips >= 0;
}

/* ---- the walk */

static void
place_transfer(Xla *xla, const Instruction *instr, XlaTransfer *transfer)
{
	const char *id = attribute(instr, "stack_frame_id="), *path;
	int64_t at = id ? strtoll(id, NULL, 10) : 0;

	for (int hops = 0; at > 0 && at < MOST_FRAMES && hops < MOST_HOPS; hops++) {
		const Frame *frame = &xla->frames[at];
		if (frame->location < 1 || frame->location >= MOST_FRAMES)
			break;
		const Frame *location = &xla->frames[frame->location];
		path = location->file > 0 && location->file < MOST_FRAMES
			? xla->frames[location->file].path
			: NULL;
		if (!transfer->path || (path && strstr(transfer->path, "-packages/"))) {
			transfer->path = path;
			transfer->line = (int)location->line;
		}
		if (path && !strstr(path, "-packages/"))
			return;
		at = frame->parent - 1;
	}
	if (!id && (path = attribute(instr, "source_file=\""))) {
		transfer->path = arena_strndup(xla->arena, path, strcspn(path, "\""));
		const char *line = attribute(instr, "source_line=");
		transfer->line = line ? atoi(line) : 0;
	}
}

/* In how many parts devices use a sum over n of them; 1: one uses all of it. */
static int64_t
parts_used(const Computation *of, const Instruction *instr, int64_t n)
{
	double all = bytes_of(instr->type), slice = 0;

	for (int i = 0; i < of->n; i++) {
		if (!uses(&of->all[i], instr->name))
			continue;
		if (of->all[i].opcode != X_dynamic_slice)
			return 1;
		double bytes = bytes_of(of->all[i].type);
		slice = bytes > slice ? bytes : slice;
	}
	int64_t parts = slice > 0 && n > 1 ? n : 1;
	while (parts > 1 && (n % parts || slice * (double)(parts - 1) >= all))
		parts--;
	return parts;
}

static void
append(Xla *xla, XlaTransfer new)
{
	if (new.n > 1)
		APPEND(xla->arena, xla->plan->all, xla->plan->n, new);
}

/* An all-reduce of which only slices are used.  Of fewer slices than devices each is a sum of
   its own, over as many as have it: what is left of the axes then, of which the slices may lie
   along the first or the last; where along neither, it stays one sum. */
static void
append_scattered(Xla *xla, XlaTransfer new, int64_t parts)
{
	XlaTransfer part = new, rest = new;

	part.kind = O_reduce_scatter;
	part.n = parts;
	rest.n /= parts;
	rest.bytes /= (double)parts;
	bool splits = rest.n == 1 || !new.axes.n
		|| axes_take(&new.axes, parts, &part.axes, &rest.axes)
		|| axes_take(&new.axes, rest.n, &rest.axes, &part.axes);
	append(xla, splits ? part : new);
	if (splits)
		append(xla, rest);
}

static bool
add_transfer(Xla *xla, Computation *of, const Instruction *instr, int64_t trips, bool counted)
{
	const char *pairs = attribute(instr, "source_target_pairs=");
	const char *groups = attribute(instr, "replica_groups=");
	OpKind kind = instr->collective;
	XlaTransfer new = {.kind = kind, .trips = trips, .counted = counted, .n = 1};
	const int64_t *ids;

	if (pairs) {
		new.source = xla_pairs(xla->arena, pairs, xla->mesh, &new.axes);
		new.n = axes_size(&new.axes);
		if (!new.source)
			return wrong(xla, instr->line, "these pairs are none of this mesh");
	} else {
		ids = xla_group(xla->arena, groups ? groups : "{}", xla->mesh->ndevices,
			&new.n);
		if (!ids)
			return wrong(xla, instr->line,
				"these groups of devices cannot be read");
		new.axes = xla_axes(xla->mesh, ids, new.n);
	}
	new.bytes = bytes_of(instr->type);
	if (kind == O_all_gather)
		new.bytes /= (double)new.n;
	if (kind == O_reduce_scatter)
		new.bytes *= (double)new.n;
	int64_t parts = kind == O_all_reduce ? parts_used(of, instr, new.n) : 1;
	place_transfer(xla, instr, &new);
	if (parts > 1)
		append_scattered(xla, new, parts);
	else
		append(xla, new);
	return xla->plan->n < MOST_TRANSFERS
		|| wrong(xla, instr->line, "more collectives than are counted");
}

static bool walk(Xla *xla, Computation *of, int64_t trips, bool counted);

static double
bytes_since(const XlaPlan *plan, int first)
{
	double all = 0;

	for (int i = first; i < plan->n; i++)
		all += plan->all[i].bytes * (double)plan->all[i].trips;
	return all;
}

/* Of the branches the one that moves most. */
static bool
walk_branches(Xla *xla, const Instruction *instr, int64_t trips, bool counted)
{
	static const char *const names[] = {"branch_computations={",
		"true_computation=", "false_computation="};
	int first = xla->plan->n;

	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		const char *c = attribute(instr, names[k]);
		while (c && *c == '%') {
			size_t n = strcspn(++c, ",} ");
			Computation *branch =
				table_get(xla->computations, arena_strndup(xla->arena, c, n));
			int before = xla->plan->n;
			if (branch && !walk(xla, branch, trips, counted))
				return false;
			int more = xla->plan->n - before;
			double bytes = bytes_since(xla->plan, before);
			bool most = bytes > bytes_since(xla->plan, first) - bytes;
			if (most)
				memmove(xla->plan->all + first, xla->plan->all + before,
					(size_t)more * sizeof *xla->plan->all);
			xla->plan->n = most ? first + more : before;
			c += n;
			c = k == 0 && !strncmp(c, ", ", 2) ? c + 2 : NULL;
		}
	}
	return true;
}

/* A condition is asked once more than the body runs. */
static bool
walk_loop(Xla *xla, Computation *of, const Instruction *instr, int64_t trips, bool counted)
{
	Computation *condition = named_computation(xla, instr, "condition=");
	Computation *body = named_computation(xla, instr, "body=");
	int64_t times = 1, asked = trips;
	bool known = trips_of(xla, of, instr, &times) && mul_i64(trips, times, &times)
		&& add_i64(trips, times, &asked);

	if (!known)
		times = asked = trips;
	counted &= known;
	return (!condition || walk(xla, condition, asked, counted))
		&& (!body || walk(xla, body, times, counted));
}

static bool
walk_instruction(Xla *xla, Computation *of, const Instruction *instr, int64_t trips,
	bool counted)
{
	if (instr->collective != OP_COUNT)
		return add_transfer(xla, of, instr, trips, counted);
	if (instr->opcode == X_conditional)
		return walk_branches(xla, instr, trips, counted);
	if (instr->opcode == X_while)
		return walk_loop(xla, of, instr, trips, counted);
	Computation *called =
		instr->opcode == X_call ? named_computation(xla, instr, "to_apply=") : NULL;
	return !called || walk(xla, called, trips, counted);
}

static bool
walk(Xla *xla, Computation *of, int64_t trips, bool counted)
{
	if (of->entered || xla->depth == MOST_NESTED)
		return wrong(xla, 1, "computations call each other in a circle, or too deep");
	of->entered = true;
	xla->depth++;
	bool right = true;
	for (int i = 0; i < of->n && right; i++)
		right = walk_instruction(xla, of, &of->all[i], trips, counted);
	xla->depth--;
	of->entered = false;
	return right;
}

const XlaPlan *
xla_read(Session *s, int file, const Mesh *mesh)
{
	const SourceFile *f = source_file(s, file);
	Xla xla = {.session = s, .arena = s->arena, .file = file, .mesh = mesh};
	const char *parts = strstr(f->text, "num_partitions="), *end = strchr(f->text, '\n');
	int64_t n = parts && end && parts < end ? strtoll(parts + 15, NULL, 10) : 1;

	xla.computations = table_new(xla.arena);
	xla.plan = NEW(xla.arena, XlaPlan);
	xla.plan->path = f->path;
	xla.frames = NEW_ARRAY(xla.arena, Frame, MOST_FRAMES);
	if (strncmp(f->text, "HloModule", 9)) {
		wrong(&xla, 1, "this is no HLO text, as --xla_dump_hlo_as_text leaves it");
		return NULL;
	}
	if (n != mesh->ndevices) {
		wrong(&xla, 1,
			arena_printf(xla.arena,
				"this is XLA's program for %lld devices, not %lld",
				(long long)n, (long long)mesh->ndevices));
		return NULL;
	}
	return read_lines(&xla) && walk(&xla, xla.entry, 1, true) ? xla.plan : NULL;
}
