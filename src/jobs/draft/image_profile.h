// Properties of a user's images, for `init`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transforms/codecs/decode.h"

namespace ddptrain {

/// What some of the images are like.
struct ImageProfile {
  std::vector<int> shorts;  // their shorter sides, sorted
  int longest = 0;
  ImageSize first;  // of one of them
  bool one_size = true;
  bool gray = true;
  std::vector<std::string> unreadable;

  int middle() const { return shorts.at(shorts.size() / 2); }
  bool tiny() const { return one_size && middle() <= 64; }
};

/// An Error (Exit::data) where none of the files can be read.
ImageProfile image_profile(const std::vector<std::string>& paths);

/// "32 px, gray", or "200 to 640 px".
std::string sizes_text(const ImageProfile& profile);
/// How long to train on so many images.
int epochs_for(std::int64_t training);
/// Up to `most` of them, evenly.
std::vector<std::string> some_of(const std::vector<std::string>& all, std::size_t most);
std::vector<std::string> paths_below(const std::string& root,
                                     const std::vector<std::string>& paths);
/// Adds a line about files that look like images and are of a format that is not read.
void note_other_formats(const std::string& root, std::vector<std::string>& found);
/// Adds a line about images that cannot be read; the lines of a recipe that leaves them out.
std::string policy_lines(const ImageProfile& profile, std::vector<std::string>& found);

}  // namespace ddptrain
