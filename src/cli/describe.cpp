// `describe KIND NAME`: one component's options with types, ranges and defaults.
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "cli/program.h"
#include "config/encode.h"
#include "config/shape.h"

namespace ddptrain {

namespace {

std::string type_text(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::boolean:
      return "true or false";
    case Shape::Kind::integer:
      return "integer";
    case Shape::Kind::number:
      return "number";
    case Shape::Kind::text:
      return shape.path ? "path" : "text";
    case Shape::Kind::duration:
      return "duration, such as 5 epochs, 1000 steps, 30 s, 75 %";
    case Shape::Kind::size:
      return "size, such as 25 MiB";
    case Shape::Kind::share:
      return "share, such as 75 %";
    case Shape::Kind::word:
      return join(shape.words, " | ");
    case Shape::Kind::list:
      return "list of: " + type_text(shape.children.at(0));
    case Shape::Kind::table:
      return "map to: " + type_text(shape.children.at(0));
    case Shape::Kind::record:
      return "map";
    case Shape::Kind::component:
      return "a " + shape.component;
  }
  return {};
}

std::string range_text(const Shape& shape) {
  std::string text;
  if (std::isfinite(shape.min))
    text += (shape.above_min ? ", above " : ", at least ") + format_number(shape.min);
  if (std::isfinite(shape.max))
    text += (shape.below_max ? ", below " : ", at most ") + format_number(shape.max);
  return text;
}

std::string one_line(const Node& node) {
  auto text = to_yaml(Node::map({{"v", {}, node}}));
  text = std::string(trim(text));
  return text.find('\n') == std::string::npos ? std::string(trim(text.substr(2))) : "see below";
}

void print_option(const Shape& shape, std::size_t indent) {
  const std::string blanks(indent, ' ');
  auto type = type_text(shape) + range_text(shape);
  if (shape.nullable) type += ", or null";
  if (shape.automatic) type += ", or auto";
  const auto initial = shape.required ? "required" : "default " + one_line(shape.initial);
  std::printf("%s%s  (%s; %s)\n%s    %s\n", blanks.c_str(), shape.key.c_str(), type.c_str(),
              initial.c_str(), blanks.c_str(), shape.doc.c_str());
  if (shape.kind == Shape::Kind::record)
    for (const auto& child : shape.children) print_option(child, indent + 4);
}

int describe(const Arguments& arguments) {
  const auto& catalog = arguments.program->catalog(arguments.words[0]);
  const auto* entry = catalog.find(arguments.words[1]);
  if (!entry) {
    const auto near = nearest(arguments.words[1], catalog.names());
    throw Error(Exit::recipe, "no " + catalog.kind() + " is called '" + arguments.words[1] + "'" +
                                  (near.empty() ? "; see 'ddptrain list " + catalog.kind() + "'"
                                                : "; did you mean '" + near + "'?"));
  }
  std::printf("%s %s: %s\n\n", catalog.kind().c_str(), entry->name.c_str(), entry->doc.c_str());
  for (const auto& option : entry->shape().children) print_option(option, 2);
  return 0;
}

}  // namespace

Verb describe_verb() {
  return {.name = "describe",
          .usage = "KIND NAME",
          .summary = "one component's options: types, ranges, defaults",
          .flags = {},
          .min_words = 2,
          .max_words = 2,
          .run = describe};
}

}  // namespace ddptrain
