// Files behind https://, http://, s3:// and gs:// addresses, read by ranges.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "recipe/store_spec.h"
#include "sources/curl/plugin.h"
#include "sources/files/file_system.h"

namespace ddptrain {

struct BucketEntries;

/// Seconds to wait before attempt `next` (from 1): a random share of 0.2 s times 2^next, 20 s at
/// most ("full jitter", AWS Architecture Blog 2015), or what the server asked for, up to a minute.
double seconds_to_wait(std::int64_t next, double retry_after, double uniform);

/// A failed or throttled request (no answer, a part of one, 408, 429, 5xx) is made again. Errors
/// (Exit::data) name the address and the last answer: it is not there, refused, throttled, stalled,
/// of another size than it reported, changed since, from a server without ranges.
///
/// What a list or a first request says of a file is kept. A bucket's file is read as it was then:
/// one with another ETag is an Error.
class HttpFiles final : public FileSystem {
 public:
  using Sleep = std::function<void(double seconds)>;
  HttpFiles(std::unique_ptr<const HttpClient> client, StoreSpec store, Sleep sleep);

  /// In a bucket, what begins with a path and '/' is a folder.
  FileInfo info(const std::string& url) const override;
  std::string list(const std::string& folder, const VisitEntry& visit) const override {
    return list_beginning(folder, "", visit);
  }
  /// Of a bucket alone, sorted: other servers have no list.
  std::string list_beginning(const std::string& folder, const std::string& begin,
                             const VisitEntry& visit) const override;
  std::string read(const std::string& url, std::uint64_t offset, std::uint64_t most) const override;
  MappedFile map(const std::string& url) const override;

 private:
  struct KnownFile {
    FileInfo info;
    std::string tag = {};  // without quotes; empty: unknown
  };
  HttpReply answered(const std::string& url, const HttpRequest& request) const;
  KnownFile known(const std::string& url) const;
  KnownFile asked(const std::string& url) const;
  void keep(const std::string& folder, const std::string& begin, const BucketEntries& found) const;
  bool is_folder_of_bucket(const std::string& url) const;
  bool is_listed(const std::string& url) const;
  std::string read_range(const std::string& url, std::uint64_t offset, std::uint64_t count,
                         const KnownFile& there) const;
  void require_range(const std::string& url, const HttpReply& reply, const HttpRequest& request,
                     const KnownFile& there) const;

  std::unique_ptr<const HttpClient> client_;
  StoreSpec store_;
  Sleep sleep_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, KnownFile> known_;
  mutable std::vector<std::string> listed_;  // beginnings of which all files are known
};

/// Opens the plug-in, for addresses of the scheme that `url` has. s3:// is signed with
/// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment, if they are
/// there; gs:// with GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY (HMAC keys), or it has the token
/// GOOGLE_OAUTH_ACCESS_TOKEN, which is sent over https:// alone. An Error (Exit::data) says why
/// files cannot be read so.
std::unique_ptr<const FileSystem> open_store(const std::string& url, const StoreSpec& store);

}  // namespace ddptrain
