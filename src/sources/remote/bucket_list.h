// The files and folders of a bucket below a prefix.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "recipe/store_spec.h"
#include "sources/curl/plugin.h"
#include "sources/remote/list_page.h"

namespace ddptrain {

struct BucketEntries {
  std::vector<ListedObject> files;   // by key
  std::vector<std::string> folders;  // keys without '/' at the end, sorted
  std::string why = {};              // why there is no list; empty: there is
  bool refused = false;              // it is that the keys may not list (401, 403)
};

/// Answers a request, after attempts.
using AskStore = std::function<HttpReply(const HttpRequest&)>;

/// What lies in the folder `url` ("s3://bucket/imagenet") and has a name that begins with `begin`,
/// page by page; at most `most` entries are requested, and more in a page are left out. A list of
/// more than five million entries, one that does not end, that is damaged, or that has a key twice,
/// a key that is not asked for or one that is no path (an empty name, '.', '..', control
/// characters) has a `why` instead.
BucketEntries list_bucket(const std::string& url, const std::string& begin, const StoreSpec& store,
                          const AskStore& ask, int most = 0);

/// Whether a key may be a path: no empty name, '.', '..' or control character in it.
bool is_plain_key(const std::string& key);

}  // namespace ddptrain
