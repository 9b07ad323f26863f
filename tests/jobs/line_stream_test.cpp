#include "jobs/line_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/error.h"

namespace ddptrain {
namespace {

using Texts = std::vector<std::string>;

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Pipe() {
    close_input();
    ::close(ends_[0]);
  }
  int output() const { return ends_[0]; }
  void write(const std::string& text) const {
    std::size_t done = 0;
    while (done < text.size()) {
      const auto wrote = ::write(ends_[1], text.data() + done, text.size() - done);
      ASSERT_GT(wrote, 0);
      done += static_cast<std::size_t>(wrote);
    }
  }
  void close_input() {
    if (open_) ::close(ends_[1]);
    open_ = false;
  }

 private:
  int ends_[2] = {-1, -1};
  bool open_ = true;
};

bool never() { return false; }

TEST(LineStream, EndsLinesAsFilesOfAnySystemDo) {
  Pipe pipe;
  pipe.write("one\r\n\ntw\ro\nno end");
  pipe.close_input();
  LineStream stream(pipe.output());
  const auto lines = stream.next(never);
  EXPECT_EQ(lines.first, 1);
  EXPECT_EQ(lines.texts, (Texts{"one", "", "tw\ro", "no end"}));
  EXPECT_TRUE(stream.next(never).texts.empty());
}

TEST(LineStream, GivesWhatIsThereWhileTheInputPauses) {
  Pipe pipe;
  LineStream stream(pipe.output());
  pipe.write("first\nhalf");
  EXPECT_EQ(stream.next(never).texts, Texts{"first"});
  pipe.write(" and half\n");
  const auto second = stream.next(never);
  EXPECT_EQ(second.first, 2);
  EXPECT_EQ(second.texts, Texts{"half and half"});
}

TEST(LineStream, StopsToWaitWhenItIsAsked) {
  Pipe pipe;
  pipe.write("half");
  int asked = 0;
  EXPECT_TRUE(LineStream(pipe.output()).next([&] { return ++asked > 2; }).texts.empty());
}

TEST(LineStream, GivesManyLinesInPartsAndInOrder) {
  Pipe pipe;
  std::thread writer([&] {
    for (int i = 1; i <= 20000; ++i) pipe.write(std::to_string(i) + "\n");
    pipe.close_input();
  });
  LineStream stream(pipe.output());
  std::int64_t expected = 0;
  for (;;) {
    const auto lines = stream.next(never);
    if (lines.texts.empty()) break;
    EXPECT_EQ(lines.first, expected + 1);
    EXPECT_LE(lines.texts.size(), 4096U);
    for (const auto& line : lines.texts) EXPECT_EQ(line, std::to_string(++expected));
  }
  writer.join();
  EXPECT_EQ(expected, 20000);
}

TEST(LineStream, GivesALongLineByItself) {
  Pipe pipe;
  const std::string longest(std::size_t{10} << 20, 'x');
  std::thread writer([&] {
    pipe.write("short\n" + longest + "\nshort\n");
    pipe.close_input();
  });
  LineStream stream(pipe.output());
  Texts all;
  for (auto lines = stream.next(never); !lines.texts.empty(); lines = stream.next(never)) {
    for (const auto& line : lines.texts)
      EXPECT_TRUE(line.size() < longest.size() || lines.texts.size() == 1);
    all.insert(all.end(), lines.texts.begin(), lines.texts.end());
  }
  writer.join();
  EXPECT_TRUE((all == Texts{"short", longest, "short"}));
}

TEST(LineStream, NamesAnInputThatCannotBeRead) { EXPECT_THROW(LineStream(-1).next(never), Error); }

}  // namespace
}  // namespace ddptrain
