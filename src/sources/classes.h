// Classes are matched by their names: targets are numbered as the model's outputs are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ddptrain {

/// The classes that targets are numbers of, and what becomes of a sample of another one.
struct KnownClasses {
  std::vector<std::string> names;  // a checkpoint's, in order of the model's outputs; empty: those
                                   // of the training samples
  bool skip_unknown = false;       // its samples are left out and counted; otherwise an Error
  bool from_checkpoint() const { return !names.empty(); }
};

/// The numbers of classes by their names.
class ClassNumbers {
 public:
  /// `names` are those of a checkpoint, or where it has none, `own`.
  ClassNumbers(const KnownClasses& known, const std::vector<std::string>& own);

  const std::vector<std::string>& names() const { return names_; }
  /// Nothing for a sample that is left out. An Error (Exit::data) names class and sample.
  std::optional<std::int64_t> of(const std::string& name, const std::string& sample);
  /// Which classes were left out with how many samples; empty: none.
  std::string left_out() const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::int64_t> numbers_;
  std::map<std::string, std::int64_t> unknown_;  // with the number of their samples
  bool from_checkpoint_;
  bool skip_;
};

/// What to say of training data that have one class alone.
std::string one_class_text(const std::string& name);

}  // namespace ddptrain
