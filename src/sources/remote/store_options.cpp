#include "sources/remote/store_options.h"

#include "base/files/cache_folder.h"

namespace ddptrain {

void StoreOptions::fields(Fields& f) {
  f("endpoint", endpoint,
    {.doc = "Address of the service behind s3://, as in https://minio.example.org:9000; null: "
            "Amazon's.",
     .min_items = 1});
  f("region", region,
    {.doc = "Region that requests are signed for; null: AWS_REGION, or else us-east-1.",
     .min_items = 1});
  f("attempts", attempts,
    {.doc = "How often a request is made before its failure is an error.", .min = 1, .max = 100});
  f("timeout", timeout,
    {.doc = "How long a request may wait for a connection or a byte.", .unit = "time"});
}

void ShardCacheOptions::fields(Fields& f) {
  f("folder", folder,
    {.doc =
         "Folder on this node for shards that were fetched; null: one in the user's cache folder.",
     .path = true});
  f("limit", limit, {.doc = "Bytes it may have; what is behind the position is removed."});
}

std::string ShardCacheOptions::place() const {
  return folder.value_or(cache_folder() + "/fetched");
}

}  // namespace ddptrain
