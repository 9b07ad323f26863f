#include "sources/remote/http_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>

#include "base/error.h"
#include "base/secrets.h"
#include "sources/remote/store_server.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Answers with what it is given, first to last.
class Answers final : public HttpClient {
 public:
  explicit Answers(std::deque<HttpReply> replies) : replies_(std::move(replies)) {}
  HttpReply send(const HttpRequest&) const override {
    if (replies_.empty()) return {.status = 599};
    auto reply = replies_.front();
    replies_.pop_front();
    return reply;
  }

 private:
  mutable std::deque<HttpReply> replies_;
};

HttpReply head(std::int64_t size) { return {.status = 200, .length = size}; }

HttpReply part(const std::string& body, const std::string& range) {
  return {.status = 206, .body = body, .range = "bytes " + range};
}

struct Asked {
  std::string read;
  std::string problem = "none";
  std::vector<double> waits;
};

/// Bytes 2 .. 5 of a file of ten, by these answers.
Asked ask(std::deque<HttpReply> replies, std::int64_t attempts = 3) {
  Asked asked;
  StoreOptions options;
  options.attempts = attempts;
  const HttpFiles files(std::make_unique<Answers>(std::move(replies)), options,
                        [&](double seconds) { asked.waits.push_back(seconds); });
  try {
    asked.read = files.read("https://host/a.tar", 2, 4);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    asked.problem = error.what();
  }
  return asked;
}

TEST(HttpFiles, ReadARange) { EXPECT_EQ(ask({head(10), part("cdef", "2-5/10")}).read, "cdef"); }

TEST(HttpFiles, AskAgainAfterWhatPasses) {
  const HttpReply busy{.status = 503, .retry_after = 7}, none{.failure = "no route"};
  const auto asked = ask({head(10), busy, none, part("cdef", "2-5/10")});
  EXPECT_EQ(asked.read, "cdef");
  ASSERT_EQ(asked.waits.size(), 2);
  EXPECT_EQ(asked.waits[0], 7);
  EXPECT_LE(asked.waits[1], 0.8);
}

TEST(HttpFiles, NameWhatDoesNotPass) {
  const HttpReply busy{.status = 429}, stalled{.failure = "timed out", .stalled = true};
  EXPECT_EQ(
      ask({head(10), busy, busy, busy}).problem,
      "cannot read 'https://host/a.tar': the server asks for fewer requests (429); 3 attempts");
  EXPECT_THAT(ask({head(10), stalled, stalled, stalled}).problem,
              HasSubstr("nothing came for too long (data.store.timeout): timed out; 3 attempts"));
  EXPECT_THAT(ask({{.status = 404}}).problem, HasSubstr("the server has no such file (404)"));
  EXPECT_THAT(ask({{.status = 403}}).problem, HasSubstr("the server refuses it (403)"));
  EXPECT_THAT(ask({{.status = 200}}).problem, HasSubstr("does not say its size"));
  EXPECT_THAT(
      ask({head(10), part("cd", "2-5/10"), part("cd", "2-5/10"), part("cd", "2-5/10")}).problem,
      HasSubstr("2 of 4 bytes came; 3 attempts"));
}

TEST(HttpFiles, NameASizeThatIsNotTrue) {
  EXPECT_THAT(ask({head(10), part("cdef", "2-5/8")}).problem,
              HasSubstr("the server reported 10 bytes, and now 8;"));
  EXPECT_THAT(ask({head(10), {.status = 416}}).problem,
              HasSubstr("the server reported 10 bytes, and now less;"));
}

TEST(HttpFiles, NameAServerWithoutRanges) {
  EXPECT_THAT(ask({head(10), {.status = 200, .too_long = true, .body = "abcd"}}).problem,
              HasSubstr("the server sends no ranges"));
  EXPECT_THAT(ask({head(10), part("abcd", "0-3/10")}).problem,
              HasSubstr("sends other bytes than the 4 from 2 on"));
}

// "Exponential Backoff And Jitter": a uniform share of a doubling time with a ceiling.
TEST(HttpFiles, WaitLongerEachTime) {
  EXPECT_DOUBLE_EQ(seconds_to_wait(1, 0, 1), 0.4);
  EXPECT_DOUBLE_EQ(seconds_to_wait(3, 0, 0.5), 0.8);
  EXPECT_DOUBLE_EQ(seconds_to_wait(50, 0, 1), 20);
  EXPECT_DOUBLE_EQ(seconds_to_wait(1, 3, 0), 3);
  EXPECT_DOUBLE_EQ(seconds_to_wait(1, 1e9, 0), 60);
}

TEST(HttpFiles, AddressesOfBuckets) {
  StoreOptions options;
  options.region = "eu-west-1";
  EXPECT_EQ(request_url("s3://b/k/a b.tar", options),
            "https://b.s3.eu-west-1.amazonaws.com/k/a%20b.tar");
  options.endpoint = "http://127.0.0.1:9000/";
  EXPECT_EQ(request_url("s3://b/k.tar", options), "http://127.0.0.1:9000/b/k.tar");
  EXPECT_EQ(request_url("https://host/k.tar?x=1", options), "https://host/k.tar?x=1");
}

/// A server, and files of it read by libcurl.
class HttpByCurl : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = test::why_no_http(); !why.empty()) GTEST_SKIP() << why;
    for (int i = 0; i < 1000; ++i) content_ += std::to_string(i);
    folder_.write("a.bin", content_);
    server_.emplace(folder_.path());
  }

  std::string read(const std::string& url, std::uint64_t offset = 100, std::uint64_t most = 50) {
    StoreOptions options;
    options.endpoint = server_->url();
    options.timeout.count = 1;
    options.attempts = 3;
    try {
      return open_store(url, options)->read(url, offset, most);
    } catch (const Error& error) {
      return error.what();
    }
  }

  TemporaryFolder folder_;
  std::optional<test::StoreServer> server_;
  std::string content_;
};

TEST_F(HttpByCurl, ReadsRangesAndWholeFiles) {
  EXPECT_EQ(read(server_->url("files/a.bin")), content_.substr(100, 50));
  EXPECT_EQ(read(server_->url("files/a.bin"), 0, 1 << 20), content_);
  EXPECT_EQ(read(server_->url("files/a.bin"), content_.size(), 10), "");
  EXPECT_EQ(read(server_->url("whole/a.bin"), 0, 1 << 20), content_);
}

TEST_F(HttpByCurl, SurvivesABusyServerAndAnAnswerThatEndsEarly) {
  EXPECT_EQ(read(server_->url("busy/a.bin")), content_.substr(100, 50));
  EXPECT_EQ(read(server_->url("short/a.bin")), content_.substr(100, 50));
}

TEST_F(HttpByCurl, NamesWhatIsWrong) {
  EXPECT_THAT(read(server_->url("files/none.bin")), HasSubstr("no such file (404)"));
  EXPECT_THAT(read(server_->url("whole/a.bin")), HasSubstr("sends no ranges"));
  EXPECT_THAT(read(server_->url("larger/a.bin")),
              HasSubstr("the server reported 2900 bytes, and now 2890"));
  EXPECT_THAT(read(server_->url("hang/a.bin")), HasSubstr("nothing came for too long"));
  EXPECT_THAT(read("http://127.0.0.1:9/a.bin"), HasSubstr("3 attempts"));
}

TEST_F(HttpByCurl, SignsWithCredentialsOfTheEnvironment) {
  EXPECT_THAT(read("s3://signed/a.bin"), HasSubstr("the server refuses it (403)"));
  ::setenv("AWS_ACCESS_KEY_ID", "test-key", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "test-secret", 1);
  EXPECT_EQ(read("s3://signed/a.bin"), content_.substr(100, 50));
  ::setenv("AWS_SESSION_TOKEN", "test-token", 1);
  EXPECT_EQ(read("s3://signed/a.bin"), content_.substr(100, 50));
  EXPECT_EQ(without_secrets("a test-secret and a test-token").find("test-"), std::string::npos);
  for (const auto* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"})
    ::unsetenv(name);
}

}  // namespace
}  // namespace ddptrain
