#include "program/program.h"

#include <algorithm>

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

const Program& main_program() {
  static const Components components({ddptrain_components, ddptrain_components_end});
  static const Program program = [] {
    Program made{&components.catalogs(), components.verbs()};
    made.in_engine = run_in_engine;
    made.has_engine = has_engine;
    const auto reading = reading_verbs();
    for (auto& verb : made.verbs) {
      const auto own = std::find_if(reading.begin(), reading.end(),
                                    [&](const Verb& other) { return other.name == verb.name; });
      verb.run = own == reading.end() ? run_in_engine : own->run;
    }
    return made;
  }();
  return program;
}

}  // namespace ddptrain
