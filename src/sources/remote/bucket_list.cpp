#include "sources/remote/bucket_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "sources/remote/address.h"

namespace ddptrain {
namespace {

constexpr std::uint64_t most_page_bytes = std::uint64_t{16} << 20;
constexpr std::size_t most_entries = 5'000'000;

std::string why_refused(const HttpReply& reply, const std::string& url) {
  const auto code = error_code_of(reply.body);
  const auto status = std::to_string(reply.status) + (code.empty() ? "" : " " + code);
  const auto bucket = bucket_of(url);
  switch (reply.status) {
    case 301:
    case 307:
      return "'" + bucket + "' is in another region (" + status + "); name it in data.store.region";
    case 401:
    case 403:
      return "the store refuses to list it (" + status +
             "): the keys of the environment need the right to list (s3:ListBucket, "
             "storage.objects.list); without it, name shards by a pattern, as in "
             "'train-{000000..000099}.tar'";
    case 404:
      return fmt::format("there is no '{}' ({})", bucket, status);
    default:
      return "the store answers a request for its list with " + status;
  }
}

class Lister {
 public:
  Lister(const std::string& url, const std::string& begin, const StoreSpec& store,
         const AskStore& ask, int most)
      : url_(url), store_(store), ask_(ask), most_(most) {
    folder_ = key_of(url);
    if (!folder_.empty()) folder_ += '/';
    prefix_ = folder_ + begin;
  }

  BucketEntries run() {
    ListRequest request{prefix_};
    if (most_ > 0) request.most = most_;
    std::set<std::string> tokens;
    while (found_.why.empty() && add_page(request)) {
      const auto count = found_.files.size() + found_.folders.size();
      if (most_ > 0 && count >= static_cast<std::size_t>(most_)) break;
      if (count > most_entries || tokens.size() > most_entries)
        refuse(fmt::format("it has more than {} files; pack them into shards", most_entries));
      if (!tokens.insert(request.token).second) refuse("the store sends a page of the list again");
    }
    sort();
    return std::move(found_);
  }

 private:
  void refuse(const std::string& why) {
    if (found_.why.empty()) found_.why = why;
  }

  /// Whether there is another page, which `request` then asks for.
  bool add_page(ListRequest& request) {
    const auto reply =
        ask_({.url = list_url(url_, request, store_), .count = most_page_bytes, .ranged = false});
    found_.refused = reply.status == 401 || reply.status == 403;
    if (reply.status != 200) return refuse(why_refused(reply, url_)), false;
    if (reply.too_long) return refuse("a page of the list has more than 16 MiB"), false;
    auto page = parse_list_page(reply.body);
    if (!page.why.empty()) return refuse("the list cannot be read: " + page.why), false;
    for (auto& object : page.objects) add_file(std::move(object));
    for (auto& prefix : page.prefixes) add_folder(std::move(prefix));
    request.token = page.next;
    return page.truncated;
  }

  void add_file(ListedObject object) {
    if (object.key == folder_) return;  // what some tools write for an empty folder
    if (is_here(object.key)) found_.files.push_back(std::move(object));
  }

  void add_folder(std::string prefix) {
    if (!prefix.ends_with('/')) return refuse_key(prefix, "is no folder");
    prefix.pop_back();
    if (is_here(prefix)) found_.folders.push_back(std::move(prefix));
  }

  void refuse_key(const std::string& key, const std::string& why) {
    refuse("the list has '" + shown(key, 200) + "', which " + why);
  }

  bool is_here(const std::string& key) {
    if (!key.starts_with(prefix_))
      return refuse_key(key, "does not begin with '" + shown(prefix_, 200) + "'"), false;
    const auto name = key.substr(folder_.size());
    if (!is_plain_key(name)) return refuse_key(key, "is no path"), false;
    if (name.find('/') != name.npos) return refuse_key(key, "lies in a folder below"), false;
    return true;
  }

  void sort() {
    auto& [files, folders, why, refused] = found_;
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return a.key < b.key; });
    std::sort(folders.begin(), folders.end());
    const auto twice = std::adjacent_find(
        files.begin(), files.end(), [](const auto& a, const auto& b) { return a.key == b.key; });
    if (twice != files.end()) refuse_key(twice->key, "it has twice");
    folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  }

  const std::string& url_;
  const StoreSpec& store_;
  const AskStore& ask_;
  int most_;
  std::string folder_, prefix_;
  BucketEntries found_;
};

}  // namespace

BucketEntries list_bucket(const std::string& url, const std::string& begin, const StoreSpec& store,
                          const AskStore& ask, int most) {
  return Lister(url, begin, store, ask, most).run();
}

bool is_plain_key(const std::string& key) {
  const bool control =
      std::any_of(key.begin(), key.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  const auto names = split(key, '/');
  return !control && std::none_of(names.begin(), names.end(), [](const auto& name) {
    return name.empty() || name == "." || name == "..";
  });
}

}  // namespace ddptrain
