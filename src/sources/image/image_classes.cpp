#include "sources/image/image_classes.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "sources/image/image_list.h"

namespace ddptrain {

std::string ImageClasses::name_of(const std::string& text, const std::string& image) const {
  if (names_.empty() || std::find(names_.begin(), names_.end(), text) != names_.end()) return text;
  const auto number = parse_integer(text);
  if (number && *number >= 0 && *number < std::ssize(names_))
    return names_[static_cast<std::size_t>(*number)];
  throw Error(Exit::data, Option{"data.classes"}, "'{}' is of class '{}', which is not among {}",
              image, shown(text), plural(std::ssize(names_), "class name"));
}

std::int64_t ImageClasses::add(const std::string& text, const std::string& image) {
  const auto [place, is_new] = places_.emplace(name_of(text, image), std::ssize(added_));
  if (is_new) added_.push_back(place->first);
  return place->second;
}

void ImageClasses::number(ImageList& list) const {
  list.classes = names_.empty() ? class_order(added_) : names_;
  std::map<std::string, std::int64_t> numbers;
  for (const auto& name : list.classes) numbers.emplace(name, std::ssize(numbers));
  for (auto& files : list.files)
    for (auto& file : files) file.label = numbers.at(added_[static_cast<std::size_t>(file.label)]);
}

}  // namespace ddptrain
