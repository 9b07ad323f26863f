// The program without LibTorch: it knows the components by schemas/components.json, which the build
// puts into it.
#include "cli/program.h"

#include "base/error.h"
#include "cli/documents/components.h"

// NOLINTNEXTLINE: C++20 has no other way to take a file in
asm(".section .rodata\n"
    ".global ddptrain_components\n"
    "ddptrain_components: .incbin \"" DDPTRAIN_COMPONENTS
    "\"\n"
    ".global ddptrain_components_end\n"
    "ddptrain_components_end: .byte 0\n"
    ".section .text\n");

extern "C" const char ddptrain_components[];
extern "C" const char ddptrain_components_end[];

namespace ddptrain {
namespace {

int needs_the_engine(const Arguments& arguments) {
  throw Error(Exit::recipe, "'" + arguments.command_line[1] +
                                "' needs the full program; this one was built without LibTorch and "
                                "only reads recipes");
}

Program read_program() {
  static const Components components({ddptrain_components, ddptrain_components_end});
  Program program{&components.catalogs(), components.verbs()};
  const auto reading = reading_verbs();
  for (auto& verb : program.verbs) {
    const auto own = std::find_if(reading.begin(), reading.end(),
                                  [&](const Verb& other) { return other.name == verb.name; });
    verb.run = own == reading.end() ? needs_the_engine : own->run;
  }
  return program;
}

}  // namespace

const Program& this_program() {
  static const Program program = read_program();
  return program;
}

}  // namespace ddptrain
