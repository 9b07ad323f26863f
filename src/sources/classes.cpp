#include "sources/classes.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {

ClassNumbers::ClassNumbers(const KnownClasses& known, const std::vector<std::string>& own)
    : names_(known.from_checkpoint() ? known.names : own),
      from_checkpoint_(known.from_checkpoint()),
      skip_(known.skip_unknown) {
  for (const auto& name : names_)
    numbers_.emplace(name, static_cast<std::int64_t>(numbers_.size()));
}

std::optional<std::int64_t> ClassNumbers::of(const std::string& name, const std::string& sample) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  if (!skip_)
    throw Error(
        Exit::data,
        "class '{}' (of '{}') is {}; 'policy.on_unknown_class: skip' leaves its samples out", name,
        sample,
        from_checkpoint_
            ? fmt::format("not among the {} classes that the model was trained on", names_.size())
            : std::string("only in the valid split"));
  ++unknown_[name];
  return {};
}

std::string ClassNumbers::left_out() const {
  if (unknown_.empty()) return {};
  std::int64_t count = 0;
  std::vector<std::string> names;
  for (const auto& [name, samples] : unknown_) {
    count += samples;
    names.push_back("'" + name + "'");
  }
  const auto classes = static_cast<std::int64_t>(names.size());
  if (classes > 8) names.resize(8), names.emplace_back("...");
  return fmt::format("{} of {} unknown {} left out (policy.on_unknown_class): {}",
                     plural(count, "sample"), classes, classes == 1 ? "class" : "classes",
                     join(names, ", "));
}

std::string one_class_text(const std::string& name) {
  return "the training data have one class alone, '" + name +
         "': there is nothing to tell apart; is data.root the folder that holds the classes?";
}

}  // namespace ddptrain
