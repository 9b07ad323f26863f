#include "base/did_you_mean.h"

namespace ddptrain {

std::string one_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += "'" + names[i] + "'";
  }
  return text;
}

std::string did_you_mean(const std::vector<std::string>& names, std::string_view otherwise) {
  return names.empty() ? std::string(otherwise) : "; did you mean " + one_of(names) + "?";
}

std::string did_you_mean(const std::string& near, std::string_view otherwise) {
  return near.empty() ? std::string(otherwise) : did_you_mean(std::vector{near});
}

}  // namespace ddptrain
