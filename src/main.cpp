// Where the program starts: everything else is a verb.
#include "cli/verb.h"

int main(int argc, char** argv) { return ddptrain::run_command_line({argv, argv + argc}); }
