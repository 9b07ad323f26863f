#include "jobs/generate/generation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/output/log.h"
#include "base/output/print.h"
#include "base/text.h"
#include "generation/stop_texts.h"
#include "jobs/generate/text_printer.h"
#include "jobs/line_stream.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kTokens = 128;
constexpr std::size_t kTogether = 16;  // prompts

/// What is known of a text while it is written.
class TextInWriting {
 public:
  TextInWriting(const TextCodec& codec, const Prompt& prompt, const GenerateJob& job)
      : stream_(codec.detokenizer()), stops_(job.stops) {
    for (const auto token : prompt.tokens) stream_.add(static_cast<std::int32_t>(token));
  }

  /// What can be shown with a further token.
  std::string add(std::int64_t token) {
    ++tokens_;
    return kept(stops_.add(stream_.add(static_cast<std::int32_t>(token))));
  }
  bool stopped() const { return stops_.stopped(); }
  /// What was held back.
  std::string finish() {
    if (stopped()) return {};
    auto rest = stops_.add(stream_.finish());
    return kept(stopped() ? rest : rest + stops_.finish());
  }
  FinishedText finished(const std::string& prompt, TextEnd end) const {
    return {prompt, text_, tokens_, stopped() ? TextEnd::stop : end};
  }

 private:
  std::string kept(std::string piece) {
    text_ += piece;
    return piece;
  }

  TextStream stream_;
  StopTexts stops_;
  std::string text_;
  std::int64_t tokens_ = 0;
};

void print_now(std::string_view text) {
  print_exact(text);
  flush_stdout();  // without a reader, the next token ends (launch/signals.h)
}

class Generation {
 public:
  Generation(const GenerateJob& job, TextModel& model, const Hooks& hooks)
      : job_(job), model_(model), hooks_(hooks), ends_(model.ends()) {}

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
    std::vector<Prompt> prompts;
    std::vector<TextInWriting> written;
    for (const auto& text : texts) {
      prompts.push_back(prompt_of(text));
      written.emplace_back(model_.codec(), prompts.back(), job_);
    }
    if (job_.json) return write(texts, prompts, written, nullptr);
    const bool headed = job_.prompts.size() != 1;
    TextPrinter printer(texts, headed, print_now);
    write(texts, prompts, written, &printer);
    if (signal_ != 0) printer.cut();
  }

  void write(const std::vector<std::string>& texts, const std::vector<Prompt>& prompts,
             std::vector<TextInWriting>& written, TextPrinter* printer) {
    const auto options = options_for(prompts);
    std::vector<TextEnd> ends(prompts.size(), TextEnd::length);
    std::vector<std::int64_t> left(prompts.size(), options.tokens);
    const auto show = [&](std::size_t i, const std::string& piece) {
      if (printer) printer->add(i, piece);
    };
    model_.generator().run(prompts, options, [&](std::size_t i, std::int64_t token) {
      if (asked_to_stop()) return Writing::all_end;
      ++tokens_;
      show(i, written[i].add(token));
      const bool ended = std::find(ends_.begin(), ends_.end(), token) != ends_.end();
      if (ended) ends[i] = TextEnd::token;
      if (!ended && !written[i].stopped() && --left[i] > 0) return Writing::on;
      show(i, written[i].finish());
      if (printer) printer->end(i);
      return Writing::sequence_ends;
    });
    if (printer || signal_ != 0) return;
    for (std::size_t i = 0; i < texts.size(); ++i)
      print_now(to_json_line(written[i].finished(texts[i], ends[i])));
  }

  Prompt prompt_of(const std::string& text) {
    const auto number = prompts_++;
    const auto fail = [&](const std::string& why) {
      throw Error(Exit::recipe, fmt::format("prompt {}: {}", number + 1, why));
    };
    if (trim(text).empty()) fail("it is empty; give a text for the model to continue");
    if (const auto bad = find_invalid_utf8(text))
      fail(fmt::format("not UTF-8 text (byte {})", *bad + 1));
    return {model_.codec().encode(text), number};
  }

  GenerationOptions options_for(const std::vector<Prompt>& prompts) {
    GenerationOptions options{job_.sampling, job_.seed, job_.tokens.value_or(kTokens), ends_};
    if (const auto unknown = model_.codec().unknown(); unknown >= 0) options.never = {unknown};
    const auto room = model_.generator().room(prompts);
    if (!job_.tokens && room) options.tokens = std::min(kTokens, *room);
    return options;
  }

  bool asked_to_stop() {
    if (hooks_.stop_requested) signal_ = hooks_.stop_requested().signal;
    return signal_ != 0;
  }

  void conclude() const {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    log::info(fmt::format("wrote {} behind {} in {}", plural(tokens_, "token"),
                          plural(prompts_, "prompt"), format_seconds(seconds)));
  }

  const GenerateJob& job_;
  TextModel& model_;
  const Hooks& hooks_;
  std::vector<std::int64_t> ends_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::int64_t prompts_ = 0, tokens_ = 0;
  int signal_ = 0;
};

}  // namespace

int generate_all(const GenerateJob& job, TextModel& model, const Hooks& hooks) {
  return Generation(job, model, hooks).run();
}

}  // namespace ddptrain
