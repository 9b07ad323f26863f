// Files behind https://, http:// and s3:// addresses, read by ranges.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "sources/curl/plugin.h"
#include "sources/files/file_system.h"
#include "sources/remote/store_options.h"

namespace ddptrain {

/// Seconds to wait before attempt `next` (from 1): a random share of 0.2 s times 2^next, 20 s at
/// most ("full jitter", AWS Architecture Blog 2015), or what the server asked for, up to a minute.
double seconds_to_wait(std::int64_t next, double retry_after, double uniform);

/// A failed or throttled request (no answer, a part of one, 408, 429, 5xx) is made again. Errors
/// (Exit::data) name the address and the last answer: it is not there, refused, throttled, stalled,
/// of another size than it reported, from a server without ranges.
class HttpFiles final : public FileSystem {
 public:
  using Sleep = std::function<void(double seconds)>;
  HttpFiles(std::unique_ptr<const HttpClient> client, StoreOptions options, Sleep sleep);

  FileInfo info(const std::string& url) const override;
  std::string list(const std::string& folder, const VisitEntry& visit) const override;
  std::string read(const std::string& url, std::uint64_t offset, std::uint64_t most) const override;
  MappedFile map(const std::string& url) const override;

 private:
  HttpReply answered(const std::string& url, const HttpRequest& request) const;
  std::string read_range(const std::string& url, std::uint64_t offset, std::uint64_t count,
                         std::uint64_t size) const;
  void require_range(const std::string& url, const HttpReply& reply, const HttpRequest& request,
                     std::uint64_t size) const;

  std::unique_ptr<const HttpClient> client_;
  StoreOptions options_;
  Sleep sleep_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, FileInfo> known_;
};

/// The address that a file of a store is requested from: s3://BUCKET/KEY is ENDPOINT/BUCKET/KEY, or
/// Amazon's https://BUCKET.s3.REGION.amazonaws.com/KEY; others stay as they are.
std::string request_url(const std::string& url, const StoreOptions& options);

/// Opens the plug-in. s3:// is signed with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
/// AWS_SESSION_TOKEN of the environment, if they are there. An Error (Exit::data) says why files
/// cannot be read so.
std::unique_ptr<const FileSystem> open_store(const std::string& url, const StoreOptions& options);

}  // namespace ddptrain
