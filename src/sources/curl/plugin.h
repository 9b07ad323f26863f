// What the plug-in libddptrain_curl.so offers the program: single HTTP transfers. Retries, checks
// and limits are the caller's (sources/remote). No libcurl header here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace ddptrain {

/// How every request of a client is sent.
struct HttpSettings {
  std::string sign = {};     // "aws:amz:REGION:s3": signed by AWS Signature Version 4; empty: not
  std::string user = {};     // the access key and ':' and the secret key, for signing
  std::string token = {};    // of temporary credentials; empty: none
  std::string bearer = {};   // an OAuth 2.0 access token, instead of a signature; empty: none
  std::string ca_file = {};  // certificates that are trusted; empty: the system's
  double connect_seconds = 30;
  double stall_seconds = 30;  // without a byte, after which a transfer is given up
};

struct HttpRequest {
  std::string url;
  bool head = false;         // ask for what is there alone
  std::uint64_t offset = 0;  // of the first byte
  std::uint64_t count = 0;   // bytes; 0 of a HEAD
  bool ranged = true;        // false: all of it is asked for, of which `count` bytes are read
};

/// What came back. `failure` is libcurl's message where no answer came, or not all of it.
struct HttpReply {
  long status = 0;  // 0: no answer
  std::string failure = {};
  bool stalled = false;       // the failure is that nothing came for too long
  bool too_long = false;      // more came than was asked for; the rest was not read
  std::string body = {};      // of a GET, `count` bytes at most
  std::int64_t length = -1;   // of a HEAD: Content-Length; -1: none
  std::string range = {};     // Content-Range as it is sent: "bytes 0-9/100"
  std::string tag = {};       // ETag
  std::string modified = {};  // Last-Modified
  double retry_after = 0;     // seconds that the server asks for; 0: none
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  /// One request on a connection that is kept. Any thread may call it. Never throws.
  virtual HttpReply send(const HttpRequest& request) const = 0;
};

using OpenHttp = std::unique_ptr<HttpClient>(const HttpSettings& settings);

struct HttpPlugin {
  static constexpr const char* symbol = "ddptrain_curl_plugin";
  static constexpr int current = 2;
  int version = current;
  OpenHttp* open = nullptr;
};
using HttpPluginEntry = const HttpPlugin*();

}  // namespace ddptrain
