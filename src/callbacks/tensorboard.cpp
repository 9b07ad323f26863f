// TensorBoard's event files: TFRecords (tensorflow/core/lib/io/record_writer.h) of Event messages
// (tensorflow/core/util/event.proto).
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <protozero/pbf_writer.hpp>

#include "base/files/digest.h"
#include "base/files/files.h"
#include "callbacks/append_file.h"
#include "callbacks/writers.h"

namespace ddptrain {
namespace {

// Field numbers.
enum EventField { wall_time = 1, event_step = 2, file_version = 3, summary = 5, session_log = 7 };
enum SummaryField { summary_value = 1 };
enum ValueField { value_tag = 1, simple_value = 2 };
enum SessionField { session_status = 1 };
constexpr int session_start = 1;

template <class Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes += static_cast<char>((number >> (8 * i)) & 0xff);
  return bytes;
}

// Checksums of checksums are weak: the format rotates them and adds a constant.
std::string masked_checksum(std::string_view bytes) {
  const auto crc = crc32c(bytes);
  return little_endian(static_cast<std::uint32_t>(((crc >> 15) | (crc << 17)) + 0xa282ead8u));
}

std::string tf_record(const std::string& data) {
  const auto length = little_endian(static_cast<std::uint64_t>(data.size()));
  return length + masked_checksum(length) + data + masked_checksum(data);
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string event_file_name() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("events.out.tfevents.{}.{}.{}", static_cast<long>(unix_seconds()), host,
                     ::getpid());
}

std::string in_existing(const std::string& folder) {
  make_folders(folder);
  return folder + "/" + event_file_name();
}

class TensorBoard final : public Callback {
 public:
  TensorBoard(const std::string& folder, Due due)
      : file_(in_existing(folder)), due_(std::move(due)) {
    std::string data;
    protozero::pbf_writer event(data);
    event.add_double(wall_time, unix_seconds());
    event.add_string(file_version, "brain.Event:2");
    file_.write(tf_record(data));
  }

  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment == Moment::run_begin && run.step > 0) begin_again(run.step);
    if (moment == Moment::step_end && due_(run)) write(run.step, progress(run));
    if (moment == Moment::evaluated || moment == Moment::tested) write(run.step, run.metrics);
  }

 private:
  // TensorBoard forgets what earlier files say from this step on.
  void begin_again(std::int64_t step) {
    std::string data, session;
    protozero::pbf_writer(session).add_enum(session_status, session_start);
    protozero::pbf_writer event(data);
    event.add_double(wall_time, unix_seconds());
    event.add_int64(event_step, step + 1);
    event.add_message(session_log, session);
    file_.write(tf_record(data));
  }

  static NamedValues progress(const RunView& run) {
    NamedValues values{{"train/loss", run.train_loss},
                       {"train/lr", run.lr},
                       {"train/samples_per_second", run.samples_per_second}};
    if (!std::isnan(run.gradient_norm))
      values.emplace_back("train/gradient_norm", run.gradient_norm);
    if (run.momentum) values.emplace_back("train/momentum", *run.momentum);
    values.insert(values.end(), run.group_norms.begin(), run.group_norms.end());
    if (run.weight_decay) values.emplace_back("train/weight_decay", *run.weight_decay);
    return values;
  }

  void write(std::int64_t step, const NamedValues& values) {
    std::string data;
    protozero::pbf_writer event(data);
    event.add_double(wall_time, unix_seconds());
    event.add_int64(event_step, step);
    {
      protozero::pbf_writer all(event, summary);
      for (const auto& [name, number] : values) {
        protozero::pbf_writer value(all, summary_value);
        value.add_string(value_tag, name);
        value.add_float(simple_value, static_cast<float>(number));
      }
    }
    file_.write(tf_record(data));
  }

  AppendFile file_;
  Due due_;
};

}  // namespace

std::unique_ptr<Callback> make_tensorboard(const std::string& folder, Due due) {
  return std::make_unique<TensorBoard>(folder, std::move(due));
}

}  // namespace ddptrain
