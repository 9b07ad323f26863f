// The classes of images that say theirs one by one, by a number or a word.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ddptrain {

struct ImageList;

class ImageClasses {
 public:
  /// `names` by number; none: what the images say are the names.
  explicit ImageClasses(std::vector<std::string> names) : names_(std::move(names)) {}

  const std::vector<std::string>& names() const { return names_; }
  /// Before the first image that has a class.
  void set_names(std::vector<std::string> names) { names_ = std::move(names); }

  /// A label for ImageFile until number() is called. An Error (Exit::data) names `image` where its
  /// class is no name and no number of one.
  std::int64_t add(const std::string& text, const std::string& image);
  /// Gives the list its classes, and all of its files their numbers.
  void number(ImageList& list) const;

 private:
  std::string name_of(const std::string& text, const std::string& image) const;

  std::vector<std::string> names_;
  std::vector<std::string> added_;
  std::map<std::string, std::int64_t> places_;  // in added_
};

}  // namespace ddptrain
