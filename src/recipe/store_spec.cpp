#include "recipe/store_spec.h"

namespace ddptrain {

void StoreSpec::fields(Fields& f) {
  f("endpoint", endpoint,
    {.doc = "Address of the service behind s3:// and gs://, as in https://minio.example.org:9000; "
            "null: Amazon's (for s3:// the environment's AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL "
            "comes first) and Google's.",
     .min_items = 1});
  f("region", region,
    {.doc = "Region that requests are signed for; null: AWS_REGION, or else us-east-1, and for "
            "gs:// auto.",
     .min_items = 1});
  f("attempts", attempts,
    {.doc = "How often a request is made before its failure is an error.", .min = 1, .max = 100});
  f("timeout", timeout,
    {.doc = "How long a request may wait for a connection or a byte.", .unit = "time"});
  f("cache", cache, {.doc = "What is kept of shards, tables and other files that are read whole."});
}

void StoreCacheSpec::fields(Fields& f) {
  f("folder", folder,
    {.doc =
         "Folder on this node for files that were fetched; null: one in the user's cache folder.",
     .path = true});
  f("limit", limit, {.doc = "Bytes it may have; what was not used for longest is removed."});
}

}  // namespace ddptrain
