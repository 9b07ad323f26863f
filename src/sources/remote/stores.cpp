#include "sources/remote/stores.h"

#include "base/url.h"

namespace ddptrain {

const FileSystem& Stores::of(const std::string& url) const {
  const std::lock_guard lock(mutex_);
  auto& store = stores_[std::string(url_scheme(url))];
  if (!store) store = open_(url);
  return *store;
}

}  // namespace ddptrain
