#include "program/program.h"

#include <algorithm>

#include "cli/documents/components.h"
#include "program/plugin_shapes.h"

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

const Program& main_program(std::string_view schema) {
  static Components components({ddptrain_components, ddptrain_components_end});
  components.set_plugins([](const PluginFile& file) { add_plugin_shapes(components, file); });
  static const Program program = [&] {
    const auto own = reading_verbs();
    Program made{&components.catalogs(), {}};
    made.in_engine = run_in_engine;
    made.has_engine = has_engine;
    made.schema = schema;
    for (auto verb : components.verbs()) {
      if (std::any_of(own.begin(), own.end(),
                      [&](const Verb& other) { return other.name == verb.name; }))
        continue;
      verb.run = run_verb_in_engine;
      made.verbs.push_back(std::move(verb));
    }
    made.verbs.insert(made.verbs.end(), own.begin(), own.end());
    return made;
  }();
  return program;
}

}  // namespace ddptrain
