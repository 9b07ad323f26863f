#include "weights/folder.h"

#include <cstdlib>
#include <filesystem>

#include "base/files/cache_folder.h"

namespace ddptrain {

std::string weights_folder() {
  const char* folder = std::getenv("DDPTRAIN_WEIGHTS");
  if (folder && *folder) return folder;
  return cache_folder() + "/weights";
}

std::string weights_path(const PublishedWeights& weights) {
  const auto path = std::filesystem::absolute(weights_folder()) / file_name(weights);
  return path.lexically_normal().string();
}

bool is_here(const PublishedWeights& weights) {
  return std::filesystem::exists(weights_path(weights));
}

}  // namespace ddptrain
