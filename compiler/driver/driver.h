/*
 * driver.h - from the command line to the outputs.
 *
 *   options.c   argv -> Options           (options.def)
 *   compile.c   Options -> outputs, or an executable, or a run
 *   kinds.c     what --emit can print      (emit.def)
 */
#ifndef SHDC_DRIVER_H
#define SHDC_DRIVER_H

#include "emit/emit.h"
#include "front/front.h"
#include "ir/ir.h"
#include "pipeline/pipeline.h"
#include "report/report.h"

#define SHDC_VERSION "0.1.0"

enum { L_source = -1 }; /* below L_global: there is no module yet */

typedef enum Action {
	ACT_build, /* an executable */
	ACT_emit,
	ACT_check,
	ACT_run,
	ACT_interpret,
	ACT_answer, /* --help and the like: nothing is compiled */
} Action;

typedef struct Compilation Compilation;
typedef struct Kind Kind;
typedef struct Plan Plan; /* sched/plan.h */

typedef struct Output {
	const Kind *kind;
	const char *format; /* "" where the kind has only one */
	const char *path;   /* NULL: standard output */
} Output;

typedef struct Options {
	Action action;
	const char *action_option; /* "--run", ...: for messages */
	Text answer;		   /* of ACT_answer */
	const char *input;
	const char *output;  /* -o */
	const char *explain; /* one value, or NULL */
	Output *outputs;
	int noutputs;
	FrontOptions front;
	Override *dims, *axes; /* -D and --mesh, of `front` */
	bool remarks, strict;  /* -Rreshard, --strict */
	bool pad_remarks;      /* -Rpad */
	const char *print_after, *stop_after, *start_at;
	bool time_passes;
	bool color_output; /* on standard output */
	BuildOptions build;
	const char **directories; /* -L, of `build` */
	const char **arguments;	  /* after -- */
	int narguments;
	bool have_arguments; /* there was a -- */
} Options;

/* options.c: false after a usage diagnostic */
bool options_parse(Session *s, int argc, char **argv, Options *o);
/* A usage error; false. */
bool usage(Session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* compile.c: the exit status */
int compile(Session *s, const Options *o);

/* What is being compiled, and all it became on the way. */
struct Compilation {
	Session *session;
	const Options *options;
	int file;
	Module *module;
	Text global;	 /* HLO of L_global, for --check */
	Externs externs; /* of the module as it was opened */
	Plan *plan;	 /* by compilation_plan() */
	Text *texts;	 /* of each output */
	Text timings;
	double started; /* of what is being timed */
};

/* At L_device: the plan, made when first asked for, and the C program (false
   if it does not fit the target's memory). */
const Plan *compilation_plan(Compilation *c);
bool compilation_c(Compilation *c, Text *t);

/* externs.c: finds and tries the libraries of extern functions; false after
   diagnostics. */
bool externs_find(Compilation *c);

/* compile.c: runs passes until the module has the level; false after errors. */
bool compilation_advance(Compilation *c, Level level);
/* Time since the last call, under a name, for --time-passes. */
void time_start(void *compilation);
void time_stop(void *compilation, const char *name);

/* kinds.c */
struct Kind {
	const char *name, *formats;
	int level, again;
	bool binary;
	const char *help;
	bool (*emit)(Compilation *c, const Output *o, Text *t);
};
const Kind *kind_by_name(const char *name);
const char *const *kind_names(int *n);
void list_kinds(Text *t);

#endif
