#include "sources/remote/data_files.h"

#include "config/decode.h"
#include "sources/remote/cached_files.h"
#include "sources/remote/http_files.h"
#include "sources/remote/stores.h"

namespace ddptrain {

std::shared_ptr<const FileSystem> data_files(const Choice<Dataset>& data) {
  const auto* written = data.node().find("store");
  const auto store = written && written->is_map() ? decode<StoreSpec>(*written) : StoreSpec();
  auto stores =
      std::make_unique<Stores>([store](const std::string& url) { return open_store(url, store); });
  return std::make_shared<CachedFiles>(std::move(stores), store.cache);
}

}  // namespace ddptrain
