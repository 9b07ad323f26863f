#include "cli/plugin/template_files.h"

// NOLINTNEXTLINE: C++20 has no other way to take files in
asm(".section .rodata\n"
    "ddptrain_plugin_build: .incbin \"" DDPTRAIN_PLUGIN_TEMPLATE
    "/CMakeLists.txt.in\"\n"
    ".byte 0\n"
    "ddptrain_plugin_code: .incbin \"" DDPTRAIN_PLUGIN_TEMPLATE
    "/plugin.cpp.in\"\n"
    ".byte 0\n"
    "ddptrain_plugin_test: .incbin \"" DDPTRAIN_PLUGIN_TEMPLATE
    "/plugin_test.cpp.in\"\n"
    ".byte 0\n"
    "ddptrain_plugin_recipe: .incbin \"" DDPTRAIN_PLUGIN_TEMPLATE
    "/plugin.yaml.in\"\n"
    ".byte 0\n"
    "ddptrain_plugin_readme: .incbin \"" DDPTRAIN_PLUGIN_TEMPLATE
    "/README.md.in\"\n"
    ".byte 0\n"
    ".section .text\n");

extern "C" const char ddptrain_plugin_build[];
extern "C" const char ddptrain_plugin_code[];
extern "C" const char ddptrain_plugin_test[];
extern "C" const char ddptrain_plugin_recipe[];
extern "C" const char ddptrain_plugin_readme[];

namespace ddptrain {
namespace {

std::string filled(std::string_view text, const std::string& name, const std::string& home) {
  std::string made(text);
  for (const auto& [mark, value] : {std::pair<std::string, std::string>{"@NAME@", name},
                                    std::pair<std::string, std::string>{"@HOME@", home}})
    for (auto at = made.find(mark); at != std::string::npos;
         at = made.find(mark, at + value.size()))
      made.replace(at, mark.size(), value);
  return made;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> plugin_template(const std::string& name,
                                                                 const std::string& home) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [file, text] : {std::pair{"CMakeLists.txt", ddptrain_plugin_build},
                                   std::pair{"@NAME@.cpp", ddptrain_plugin_code},
                                   std::pair{"@NAME@_test.cpp", ddptrain_plugin_test},
                                   std::pair{"@NAME@.yaml", ddptrain_plugin_recipe},
                                   std::pair{"README.md", ddptrain_plugin_readme}})
    files.emplace_back(filled(file, name, home), filled(text, name, home));
  return files;
}

}  // namespace ddptrain
