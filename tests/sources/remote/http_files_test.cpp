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
  StoreSpec options;
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

TEST(HttpFiles, NameWhatABucketNeeds) {
  const auto why = [](const std::string& url, long status) {
    const HttpFiles files(std::make_unique<Answers>(std::deque<HttpReply>{{.status = status}}),
                          StoreSpec(), [](double) {});
    try {
      files.read(url, 0, 1);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(why("s3://b/a.tar", 403),
            "cannot read 's3://b/a.tar': the server refuses it (403); set AWS_ACCESS_KEY_ID, "
            "AWS_SECRET_ACCESS_KEY and data.store.region (where the keys may not list, a file that "
            "is missing is refused too)");
  EXPECT_EQ(why("gs://b/a.tar", 401),
            "cannot read 'gs://b/a.tar': the server refuses it (401); set GS_ACCESS_KEY_ID and "
            "GS_SECRET_ACCESS_KEY, or GOOGLE_OAUTH_ACCESS_TOKEN");
  EXPECT_EQ(why("s3://b/a.tar", 301),
            "cannot read 's3://b/a.tar': its bucket is in another region (301); name it in "
            "data.store.region");
  EXPECT_EQ(why("https://host/a.tar", 403),
            "cannot read 'https://host/a.tar': the server refuses it (403)");
}

TEST(HttpFiles, AWebServerHasNoList) {
  const HttpFiles files(std::make_unique<Answers>(std::deque<HttpReply>{}), StoreSpec(),
                        [](double) {});
  EXPECT_EQ(files.list("https://host/shards", [](const FileEntry&) {}),
            "a web server does not list its files; name them by a pattern, as in "
            "'train-{000000..000099}.tar'");
}

/// A server, and files of it read by libcurl.
class HttpByCurl : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = test::why_no_http(); !why.empty()) GTEST_SKIP() << why;
    for (int i = 0; i < 1000; ++i) content_ += std::to_string(i);
    folder_.write("a.bin", content_);
    for (const auto* name : {"d/train-2.tar", "d/train-1.tar", "d/valid 1.tar", "d/sub/x.txt"})
      folder_.write(name, name);
    server_.emplace(folder_.path());
  }

  std::string read(const std::string& url, std::uint64_t offset = 100, std::uint64_t most = 50) {
    try {
      return store(url)->read(url, offset, most);
    } catch (const Error& error) {
      return error.what();
    }
  }

  std::unique_ptr<const FileSystem> store(const std::string& url) {
    StoreSpec spec;
    spec.endpoint = server_->url();
    spec.timeout.count = 1;
    spec.attempts = 3;
    return open_store(url, spec);
  }

  /// Names of entries, or why there are none.
  std::vector<std::string> list(const std::string& url, const std::string& begin = {}) {
    std::vector<std::string> paths;
    const auto why = store(url)->list_beginning(
        url, begin, [&](const FileEntry& entry) { paths.push_back(entry.path); });
    return why.empty() ? paths : std::vector{why};
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

TEST_F(HttpByCurl, ListsABucket) {
  for (const std::string bucket : {"s3://files", "s3://pages", "s3://busy", "gs://pages"})
    EXPECT_THAT(list(bucket + "/d"),
                ElementsAre(bucket + "/d/sub", bucket + "/d/train-1.tar", bucket + "/d/train-2.tar",
                            bucket + "/d/valid 1.tar"));
  EXPECT_THAT(list("s3://pages/d/", "train-"),
              ElementsAre("s3://pages/d/train-1.tar", "s3://pages/d/train-2.tar"));
  EXPECT_THAT(list("s3://files"), ElementsAre("s3://files/d", "s3://files/a.bin"));
}

TEST_F(HttpByCurl, KnowsFilesAndFoldersOfABucket) {
  const auto files = store("s3://pages");
  EXPECT_EQ(files->info("s3://pages").kind, FileKind::folder);
  EXPECT_EQ(files->info("s3://pages/d").kind, FileKind::folder);
  EXPECT_EQ(files->info("s3://pages/d/.").kind, FileKind::folder);
  EXPECT_EQ(files->info("s3://pages/d/valid 1.tar").size, 13);
  EXPECT_EQ(files->info("s3://pages/d/train").kind, FileKind::none);
}

TEST_F(HttpByCurl, AsksForAListedFileAlone) {
  const auto files = store("s3://files");
  EXPECT_EQ(files->list("s3://files/d", [](const FileEntry&) {}), "");
  EXPECT_EQ(files->info("s3://files/d/train-1.tar").size, 13);
  EXPECT_EQ(files->info("s3://files/d/train-3.tar").kind, FileKind::none);
  EXPECT_EQ(files->read("s3://files/d/train-1.tar", 2, 5), "train");
  const auto counted = store("http://")->read(server_->url("count/files/d/train-1.tar"), 0, 9);
  EXPECT_EQ(counted, "1");
}

TEST_F(HttpByCurl, NamesWhatIsWrongWithAList) {
  EXPECT_THAT(list("s3://secret/d")[0],
              HasSubstr("the store refuses to list it (403 AccessDenied)"));
  EXPECT_THAT(list("s3://none/d")[0], HasSubstr("there is no 's3://none' (404 NoSuchBucket)"));
  EXPECT_THAT(list("s3://cut/d")[0], HasSubstr("the list cannot be read: it is cut"));
  EXPECT_THAT(list("s3://again/d")[0], HasSubstr("the store sends a page of the list again"));
  EXPECT_THAT(list("s3://outside/d")[0], HasSubstr("'../outside.tar', which does not begin with"));
  EXPECT_THAT(list("s3://files/nothing")[0], HasSubstr("the bucket has nothing there"));
}

TEST_F(HttpByCurl, SaysWhyItDoesNotKnowWhetherAFolderIsThere) {
  const auto why = [&](const std::string& url) {
    try {
      return store(url)->info(url).why;
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(why("s3://secret/d"), HasSubstr("cannot read 's3://secret/d': the store refuses to"));
  EXPECT_THAT(why("s3://none/d"), HasSubstr("there is no 's3://none' (404 NoSuchBucket)"));
  EXPECT_THAT(why("s3://cut/d"), HasSubstr("the list cannot be read: it is cut"));
  EXPECT_EQ(why("s3://secret/d/train-1.tar.index"), "the server has no such file (404)");
}

TEST_F(HttpByCurl, NamesAFileThatIsNotTheListedOne) {
  const auto files = store("s3://moved");
  EXPECT_EQ(files->list("s3://moved/d", [](const FileEntry&) {}), "");
  try {
    files->read("s3://moved/d/train-1.tar", 0, 5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot read 's3://moved/d/train-1.tar': it changed while "
                                        "the run read it: its ETag was 'moved' and is now '"));
  }
}

TEST_F(HttpByCurl, SignsForGoogleOrSendsItsToken) {
  EXPECT_THAT(read("gs://signed/a.bin"), HasSubstr("set GS_ACCESS_KEY_ID and"));
  ::setenv("GS_ACCESS_KEY_ID", "test-key", 1);
  ::setenv("GS_SECRET_ACCESS_KEY", "test-secret", 1);
  EXPECT_EQ(read("gs://signed/a.bin"), content_.substr(100, 50));
  EXPECT_THAT(list("gs://signed/d", "valid"), ElementsAre("gs://signed/d/valid 1.tar"));
  EXPECT_THAT(read("gs://bearer/a.bin"), HasSubstr("the server refuses it (401)"));
  ::unsetenv("GS_ACCESS_KEY_ID");
  ::setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "test-bearer", 1);
  EXPECT_EQ(read("gs://bearer/a.bin"), content_.substr(100, 50));
  EXPECT_EQ(without_secrets("Bearer test-bearer"), "Bearer ${GOOGLE_OAUTH_ACCESS_TOKEN}");
  StoreSpec plain;
  plain.endpoint = "http://example.org";
  try {
    open_store("gs://bearer/a.bin", plain);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "data.store.endpoint: GOOGLE_OAUTH_ACCESS_TOKEN is sent over https:// alone");
  }
  for (const auto* name : {"GS_SECRET_ACCESS_KEY", "GOOGLE_OAUTH_ACCESS_TOKEN"}) ::unsetenv(name);
}

TEST_F(HttpByCurl, SignsWithCredentialsOfTheEnvironment) {
  EXPECT_THAT(read("s3://signed/a.bin"),
              HasSubstr("the server refuses it (403); set AWS_ACCESS_KEY_ID"));
  ::setenv("AWS_ACCESS_KEY_ID", "test-key", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "test-secret", 1);
  EXPECT_EQ(read("s3://signed/a.bin"), content_.substr(100, 50));
  EXPECT_THAT(list("s3://signed/d", "valid 1"), ElementsAre("s3://signed/d/valid 1.tar"));
  EXPECT_EQ(read("s3://signed/d/valid 1.tar", 2, 7), "valid 1");
  ::setenv("AWS_SESSION_TOKEN", "test-token", 1);
  EXPECT_EQ(read("s3://signed/a.bin"), content_.substr(100, 50));
  EXPECT_EQ(without_secrets("a test-secret and a test-token").find("test-"), std::string::npos);
  for (const auto* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"})
    ::unsetenv(name);
}

}  // namespace
}  // namespace ddptrain
