#include "jobs/generate/generation.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/output/log.h"
#include "base/output/print.h"
#include "base/text.h"
#include "generation/text_writer.h"
#include "jobs/generate/text_printer.h"
#include "jobs/line_stream.h"

namespace ddptrain {
namespace {

constexpr std::size_t kTogether = 16;  // prompts

void print_now(std::string_view text) {
  print_exact(text);
  flush_stdout();  // without a reader, the next token ends (launch/signals.h)
}

class Generation {
 public:
  Generation(const GenerateJob& job, TextModel& model, const Hooks& hooks)
      : job_(job),
        hooks_(hooks),
        codec_(model.codec()),
        writer_(model.generator(), model.codec(),
                {.sampling = job.sampling,
                 .seed = job.seed,
                 .tokens = job.tokens,
                 .stops = job.stops,
                 .ends = model.ends()}) {}

  int run() {
    if (job_.prompts.empty())
      read_lines();
    else
      write_all(job_.prompts);
    if (signal_ != 0) return 128 + signal_;
    conclude();
    return 0;
  }

 private:
  void read_lines() {
    if (::isatty(STDIN_FILENO)) log::info("reading prompts, one a line; Ctrl-D ends");
    LineStream stream(STDIN_FILENO);
    while (signal_ == 0) {
      const auto lines = stream.next([&] { return asked_to_stop(); });
      if (lines.texts.empty()) return;
      write_all(lines.texts);
    }
  }

  void write_all(const std::vector<std::string>& texts) {
    for (std::size_t first = 0; first < texts.size() && signal_ == 0; first += kTogether) {
      const auto last = std::min(texts.size(), first + kTogether);
      write({texts.begin() + static_cast<std::ptrdiff_t>(first),
             texts.begin() + static_cast<std::ptrdiff_t>(last)});
    }
  }

  void write(const std::vector<std::string>& texts) {
    writer_.begin(texts, prompts_);
    warn_of_unknown_words(texts);
    prompts_ += std::ssize(texts);
    if (job_.json) return write_lines();
    const bool headed = job_.prompts.size() != 1;
    TextPrinter printer(texts, headed, print_now);
    write_until_asked([&](std::size_t i, const std::string& piece, bool ended) {
      printer.add(i, piece);
      if (ended) printer.end(i);
    });
    if (signal_ != 0) printer.cut();
  }

  void warn_of_unknown_words(const std::vector<std::string>& texts) const {
    if (codec_.unknown() < 0) return;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto tokens = codec_.encode(texts[i]);
      if (const auto count = std::ranges::count(tokens, codec_.unknown()); count > 0)
        log::warning(
            "prompt {}: {} of {} tokens are no words of the model's vocabulary: read as '{}'",
            prompts_ + static_cast<std::int64_t>(i) + 1, count, tokens.size(),
            codec_.token(codec_.unknown()));
    }
  }

  void write_lines() {
    write_until_asked([](std::size_t, const std::string&, bool) {});
    if (signal_ != 0) return;
    for (const auto& text : writer_.texts()) print_now(to_json_line(text));
  }

  void write_until_asked(const OnPiece& show) {
    const auto on_piece = [&](std::size_t i, const std::string& piece, bool ended) {
      ++tokens_;
      show(i, piece, ended);
    };
    while (!asked_to_stop() && writer_.step(on_piece)) {
    }
  }

  bool asked_to_stop() {
    if (hooks_.stop_requested) signal_ = hooks_.stop_requested().signal;
    return signal_ != 0;
  }

  void conclude() const {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    log::info("wrote {} behind {} in {}", plural(tokens_, "token"), plural(prompts_, "prompt"),
              format_seconds(seconds));
  }

  const GenerateJob& job_;
  const Hooks& hooks_;
  const TextCodec& codec_;
  TextWriter writer_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::int64_t prompts_ = 0, tokens_ = 0;
  int signal_ = 0;
};

}  // namespace

int generate_all(const GenerateJob& job, TextModel& model, const Hooks& hooks) {
  return Generation(job, model, hooks).run();
}

}  // namespace ddptrain
