#include "sources/fetch/fetch.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets.h"
#include "sources/fetch/curl.h"
#include "sources/https_server.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

template <class Action>
std::string fetch_problem(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

class Fetch : public testing::Test {
 protected:
  Fetch() {
    folder_.write("site/file", content_);
    fs::create_directories(folder_ / "keys");
  }
  /// What fetching with a program of this script called curl ends in.
  template <class Action>
  std::string with_curl(const std::string& script, const Action& action) const {
    const auto program = folder_.write("bin/curl", "#!/bin/sh\n" + script + "\n");
    ::chmod(program.c_str(), 0700);
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", ((folder_ / "bin") + ":" + path).c_str(), 1);
    const auto message = fetch_problem(action);
    ::setenv("PATH", path.c_str(), 1);
    return message;
  }

  const std::string content_ = std::string(300'000, 'a') + "end";
  const TemporaryFolder folder_;
};

TEST_F(Fetch, NeedsTheProgramCurl) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder_ / "keys").c_str(), 1);
  const auto message = fetch_problem([] { const Curl curl("https://localhost:1/file", 0, 1); });
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(message,
            "cannot run the program 'curl', which fetches files: No such file or directory; "
            "install it, or fetch the file by other means (data.source.file, --file, --wheels)");
}

TEST_F(Fetch, NeedsFilesToTalkToCurl) {
  rlimit whole{};
  ::getrlimit(RLIMIT_NOFILE, &whole);
  const rlimit none{0, whole.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const auto message = fetch_problem([] { const Curl curl("https://localhost:1/file", 0, 1); });
  ::setrlimit(RLIMIT_NOFILE, &whole);
  EXPECT_EQ(message, "cannot prepare a download: Too many open files");
}

TEST_F(Fetch, BringsAFileAndContinuesOne) {
  const HttpsServer server(folder_ / "site", folder_ / "keys");
  const auto to = folder_ / "download";
  fetch(server.url("file"), to);
  EXPECT_EQ(read_text(to), content_);
  folder_.write("download",
                content_.substr(0, 1000));  // this server cannot continue: from the start
  fetch(server.url("file"), to);
  EXPECT_EQ(read_text(to), content_);
}

TEST_F(Fetch, TakesNoMoreThanItMay) {
  const HttpsServer server(folder_ / "site", folder_ / "keys");
  EXPECT_THAT(fetch_problem([&] { fetch(server.url("file"), folder_ / "d", 1000); }),
              HasSubstr("it is larger than it may be"));
  EXPECT_FALSE(fs::exists(folder_ / "d"));
}

/// A program called curl that refuses to continue, as servers do where a file is complete.
TEST_F(Fetch, WhatCannotBeContinuedBeginsAgain) {
  folder_.write("d", "whole");
  const auto message = with_curl("case \"$*\" in *--continue-at*) exit 22;; esac\nprintf new",
                                 [&] { fetch("https://localhost/file", folder_ / "d"); });
  EXPECT_EQ(message, "none");
  EXPECT_EQ(read_text(folder_ / "d"), "new");
}

TEST_F(Fetch, CurlsOwnWordsAreQuotedWithoutPassword) {
  keep_secret("hunter2", "${env:MY_TOKEN}");
  const auto message =
      with_curl("echo 'curl: (35) no TLS with https://me:word@localhost for hunter2' >&2\nexit 35",
                [&] { fetch("https://me:word@localhost/file", folder_ / "d"); });
  EXPECT_EQ(message,
            "cannot fetch 'https://localhost/file': curl ended with status 35 and 'curl: (35) no "
            "TLS with https://*******@localhost for ${env:MY_TOKEN}'");
}

TEST_F(Fetch, AProxyThatRefusesIsNamedWithoutItsPassword) {
  ::setenv("https_proxy", "http://me:hunter2@proxy:3128", 1);
  const auto message =
      with_curl("echo 'curl: (22) The requested URL returned error: 403' >&2\nexit 22",
                [&] { fetch("https://localhost/file", folder_ / "d"); });
  ::unsetenv("https_proxy");
  EXPECT_EQ(message,
            "cannot fetch 'https://localhost/file': it is refused with status 403; https_proxy "
            "names the proxy proxy:3128");
}

TEST_F(Fetch, IsHttpsOnlyAndStaysSo) {
  for (const auto* url : {"http://localhost/x", "file:///etc/passwd", "-o/tmp/x", "ftp://x/y"})
    EXPECT_EQ(fetch_problem([&] { fetch(url, folder_ / "d"); }),
              "data.source.url: '" + std::string(url) +
                  "' is not https; fetch the archive yourself and name it under data.source.file");
  const HttpsServer server(folder_ / "site", folder_ / "keys");
  EXPECT_THAT(fetch_problem([&] { fetch(server.url("moved"), folder_ / "d"); }),
              HasSubstr("it leads to something that is not https"));
  EXPECT_THAT(fetch_problem([&] { fetch(server.url("none"), folder_ / "d"); }),
              HasSubstr("the server has no such file"));
}

TEST_F(Fetch, WritesThroughNoLinkAndIntoNobodysFile) {
  const HttpsServer server(folder_ / "site", folder_ / "keys");
  folder_.write("mine", "mine");
  fs::create_symlink(folder_ / "mine", folder_ / "link");
  fs::create_hard_link(folder_ / "mine", folder_ / "hard");
  ::mkfifo((folder_ / "pipe").c_str(), 0600);
  for (const auto* name : {"link", "hard", "pipe"})
    EXPECT_THAT(fetch_problem([&] { fetch(server.url("file"), folder_ / name); }),
                testing::StartsWith("cannot write '" + (folder_ / name) + "': "));
  EXPECT_EQ(read_text(folder_ / "mine"), "mine");
}

/// A program called curl that notes its arguments and input, and fails.
TEST_F(Fetch, NoArgumentAndNoMessageHoldsAPassword) {
  const std::string url = "https://me:s\"cr@t@localhost/file?key=s\"cr@t";
  const auto message = with_curl("printf '%s\\n' \"$@\" > " + (folder_ / "words") + "\ncat > " +
                                     (folder_ / "input") + "\nexit 6",
                                 [&] { fetch(url, folder_ / "d"); });
  EXPECT_EQ(message, "cannot fetch 'https://localhost/file?...': the host's name is not known");
  const auto words = read_text(folder_ / "words");
  EXPECT_TRUE(words.starts_with("--disable\n")) << words;  // no .curlrc
  EXPECT_THAT(words, Not(HasSubstr("cr@t")));
  EXPECT_THAT(words, Not(HasSubstr("localhost")));
  EXPECT_EQ(read_text(folder_ / "input"),
            "url = \"https://me:s\\\"cr@t@localhost/file?key=s\\\"cr@t\"\n");
}

}  // namespace
}  // namespace ddptrain
