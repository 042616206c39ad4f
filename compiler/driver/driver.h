/*
 * driver.h - from the command line to the outputs.
 *
 *   options.c   argv -> Options           (options.def)
 *   help.c      the answers to --help and the like
 *   outputs.c   what is printed where
 *   compile.c   Options -> outputs, or an executable, or a run
 *   kinds.c     what --emit can print      (emit.def)
 */
#ifndef SHDC_DRIVER_H
#define SHDC_DRIVER_H

#include "emit/emit.h"
#include "front/front.h"
#include "grad/grad.h"
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
typedef struct Plan Plan; /* memory/plan.h */

typedef struct Output {
	const Kind *kind;
	const char *format; /* "" where the kind has only one */
	const char *path;   /* NULL: standard output */
} Output;

/* In the order of the words in options.def. */
enum { REMARK_reshard = 1 << 0, REMARK_pad = 1 << 1, REMARK_schedule = 1 << 2 };
enum { FORMAT_text, FORMAT_json };
enum { COLOR_auto, COLOR_always, COLOR_never };

typedef struct Options {
	Action action;
	const char *action_option; /* "--run", ...: for messages */
	Text answer;		   /* of ACT_answer */
	const char *command;	   /* the command line, as it may be typed again */
	const char *input;
	const char *output;  /* -o */
	const char *explain; /* one value, or NULL */
	Output *outputs;
	int noutputs;
	FrontOptions front;
	bool measured;	     /* nobody will see the program itself (sweep.c) */
	Place again;	     /* for a checkpoint is taken what is there: of a loop so many */
	int64_t trips_again; /* trips, or 0: lines.  Without a path: nothing (checkpoints.c) */
	const char *versus, *versus_target; /* --versus, --versus-on; NULL: not given */
	Override *versus_axes;		    /* --versus-mesh */
	int nversus_axes;
	const char **sweeps; /* --sweep */
	int nsweeps;
	const char *xla;     /* --xla; NULL: not given */
	const char **places; /* --place */
	int nplaces;
	const char *sort;	   /* a column of its table */
	const char *source_option; /* one that only a .shd program has a use for, or NULL */
	unsigned remarks;	   /* -R: bits REMARK_ */
	bool strict, keep_inputs;
	const char *print_after, *stop_after, *start_at;
	bool time_passes;
	int overlap;   /* enum Overlap; -1: not said */
	int transport; /* threads, the only one: nothing depends on it */
	int format, color;
	bool color_output; /* on standard output */
	BuildOptions build;
	const char **arguments; /* after -- */
	int narguments;
	bool have_arguments; /* there was a -- */
} Options;

typedef struct CommandLine CommandLine;

typedef enum OptionType {
	T_group, /* no option: what follows belongs to it */
	T_short, /* of another option, whose spelling is its `what` */
	T_flag,
	T_action,
	T_text,
	T_choice,
	T_set,
	T_word,
	T_integer,
	T_list,
	T_pairs,
	T_computed,
} OptionType;

typedef enum GoesWith { ANY, MADE, SOURCE, ALONE } GoesWith;

typedef struct Option { /* a row of options.def */
	const char *spelling, *value;
	GoesWith with;
	const char *help;
	OptionType type;
	const char *what; /* the value is, for messages */
	union {
		bool *flag;
		Action action;
		const char **text;
		int *number;
		unsigned *set;
		const char ***list;
		Override **pairs;
		bool (*compute)(CommandLine *line, const char *value);
	} to;
	int *n; /* of a list, of pairs */
	int low, high;
	const char *const *(*words)(int *n);
	bool given;
} Option;

/* What is being parsed. */
struct CommandLine {
	Session *session;
	Options *options;
	Option *rows;
	int n;
};

/* options.c: false after a usage diagnostic */
bool options_parse(Session *s, int argc, char **argv, Options *o);
/* The row of an option, of so many letters; NULL: there is none. */
Option *find_option(const CommandLine *line, const char *spelling, size_t n);
bool set_action(CommandLine *line, Action action, const char *name);

/* usage.c */
/* A usage error; false. */
bool usage(Session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* ... that offers the words there are, the nearest first. */
bool
unknown_word(Session *s, const char *what, const char *word, const char *const *words, int n);
/* False after one: an option is for our language and the file is JAX's, or the other way. */
bool program_suits(Session *s, int file, const Options *o);

/* help.c: what --help and the like answer */
Text *answer(CommandLine *line);
bool answer_passes(CommandLine *line, const char *value);
bool answer_error(CommandLine *line, const char *value);
bool answer_version(CommandLine *line, const char *value);
bool answer_help(CommandLine *line, const char *value);

/* targets.c: what is told of the hardware */
bool answer_targets(CommandLine *line, const char *value);
bool answer_target(CommandLine *line, const char *value);
void list_targets(Text *t);

/* outputs.c: what --emit and --explain add */
bool outputs_add(CommandLine *line, const char *items);
bool outputs_add_missing(CommandLine *line, const char *name); /* unless it is there */
bool outputs_explain(CommandLine *line, const char *name);
/* Where each goes; false after a usage diagnostic. */
bool outputs_place(Session *s, Options *o);
bool outputs_write(Session *s, const Options *o, const Text *texts);
bool write_standard(Session *s, const Text *t);

/* compile.c: the exit status */
int compile(Session *s, const Options *o);

/* What is being compiled, and all it became on the way. */
struct Compilation {
	Session *session;
	const Options *options;
	int file;
	bool is_source; /* in the language: no dump, nothing of JAX */
	Module *module;
	Text global;		  /* HLO of L_global, for --check */
	Text reference;		  /* ... if that compares with something else */
	bool vouches;		  /* a uniform() is in `global` */
	int64_t check_bytes;	  /* that --check will take */
	Explanation explanation;  /* for --emit=explain */
	Annotations *annotations; /* of L_global, for --emit=explain; or NULL */
	Text unfused;	    /* HLO of L_device, for --emit=memory; none if it starts later */
	XlaNotes xla_notes; /* for --emit=xla */
	Text remarks;	    /* of -Rreshard, as JSON, for --emit=report */
	Text swept;	    /* the table of --sweep, likewise */
	Externs externs;    /* of the module as it was opened */
	Plan *plan;	    /* by compilation_plan() */
	Timeline *timeline; /* by compilation_any_timeline() */
	bool endless_told;
	Text *texts; /* of each output */
	Text timings;
	double started; /* of what is being timed */
};

/* At L_fused: the plan and the timeline, made when first asked for, and the C program
   (false if it does not fit the target's memory). */
const Plan *compilation_plan(Compilation *c);
const Timeline *compilation_timeline(Compilation *c);
const Timeline *compilation_any_timeline(Compilation *c); /* no error if it is endless */
bool compilation_c(Compilation *c, Text *t);

/* program.c: a program in our language or of JAX, on whole tensors; NULL after diagnostics. */
Module *program_compile(Session *s, int file, const Options *o);
/* What the options ask of a module, whatever it was read from. */
void program_ask(Module *m, const Options *o);
/* What it gives sizes to; false after diagnostics. */
bool program_names(Session *s, int file, const Options *o, FrontNames *names);

/* variant.c: a program to the end of the passes under all of these options, which are the
   command line's but for what is otherwise: a size, the file.  In a session of its own; NULL
   after diagnostics, or where no trips of a loop can be taken together as asked. */
Module *variant(Session *s, int file, const Options *o);
/* NAME=TEXT in place of what there is for that name. */
void override(Arena *a, Override **list, int *n, Override one);

/* versus.c: what --emit=report is compared with: another program, or this one on
   another mesh or target.  Its --emit=cost.json; false after diagnostics. */
bool versus_wanted(const Options *o);
const char *versus_title(const Options *o, Arena *a);
bool versus_cost(Compilation *c, Text *t);

/* checkpoints.c: functions of the program that would keep less for backward if they were
   checkpoints.  The plan is there. */
const Checkpoint *checkpoints_find(const Compilation *c, int *n);

/* progress.c: how far what takes long is; it is shown after two seconds. */
typedef struct Progress {
	const char *what; /* "annotation" */
	double began;
	bool terminal, shown;
} Progress;
Progress progress_begin(const char *what);
/* Before the i-th of n, and, with n, behind the last. */
void progress_show(void *progress, int i, int n);
double seconds_now(void);

/* externs.c: finds and tries the libraries of extern functions; false after
   diagnostics. */
bool externs_find(Compilation *c);

/* kinds.c */
typedef enum KindPath { PATH_optional, PATH_needed, PATH_written } KindPath;
struct Kind {
	const char *name, *formats;
	int level, last;
	KindPath path;
	const char *help;
	bool (*emit)(Compilation *c, const Output *out, Text *t);
};
const Kind *kind_by_name(const char *name);
const char *const *kind_names(int *n);
void list_kinds(Text *t);

#endif
