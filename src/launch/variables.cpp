#include "launch/variables.h"

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {

std::string Variables::text(const char* name) const {
  const char* value = environment_(name);
  return value ? value : "";
}

std::string Variables::required(const char* name) const {
  if (!has(name))
    throw Error(Exit::recipe,
                "the environment looks like {}, but {} is not set: start through {}, or unset its "
                "variables",
                launcher_, name, launcher_);
  return text(name);
}

int Variables::number(const char* name, int most) const {
  const auto value = parse_integer(required(name));
  if (!value || *value < 0 || *value > most)
    throw Error(Exit::recipe,
                "{} is '{}' in the environment, a whole number from 0 to {} was expected", name,
                text(name), most);
  return static_cast<int>(*value);
}

std::string Variables::first_of(std::initializer_list<const char*> names) const {
  for (const auto* name : names)
    if (has(name)) return text(name);
  return {};
}

}  // namespace ddptrain
