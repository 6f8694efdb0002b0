#include "operands/gfd/discovery.h"

#include <algorithm>

#include "os/heap.h"

namespace gpuop::operands::gfd {
namespace {

constexpr Duration kFirstRetry = std::chrono::seconds(1), kLastRetry = std::chrono::seconds(60);

}  // namespace

Discovery::Discovery(os::Fs& fs, OpenNvml open, Output& output, const Clock& clock, Log& log, MetricRegistry* metrics)
    : fs_(fs),
      open_(std::move(open)),
      output_(output),
      log_(log),
      started_(std::chrono::duration_cast<std::chrono::seconds>(clock.Wall().time_since_epoch()).count()) {
  if (metrics == nullptr) return;
  labels_count_ = &metrics->gauge("gpu_operator_gfd_labels", "Labels of this node.");
  gpus_ = &metrics->gauge("gpu_operator_gfd_gpus", "GPUs that the driver has told of.");
  driver_ = &metrics->gauge("gpu_operator_gfd_driver_answers", "1 while the driver answers.");
  passes_ = &metrics->counter("gpu_operator_gfd_passes_total", "Looks at the GPUs.");
  writes_ = &metrics->counter("gpu_operator_gfd_writes_total", "Writes of changed labels.");
  failures_ = &metrics->counter("gpu_operator_gfd_failures_total", "Passes whose labels could not be written.");
}

Discovery::~Discovery() { events_.reset(); }

void Discovery::Close() {
  events_.reset();
  reader_.reset();
  nvml_.reset();
  blind_ = true;
}

void Discovery::Wake(std::unique_ptr<Options> options) {
  Lock l(mu_);
  woken_ = true;
  if (options != nullptr) changed_ = std::move(options);
  more_.notify_all();
}

Result<const gpu::Inventory*> Discovery::Look(const Options& options) {
  const gpu::Inventory* const none = nullptr;
  if (nvml_ == nullptr) {
    auto nvml = open_();
    if (!nvml) {
      if (options.fail_on_init_error && !looked_) return std::unexpected(std::move(nvml).error());
      Tell(nvml.error());
      return looked_ ? &inventory_ : none;
    }
    nvml_ = *std::move(nvml);
    reader_ = std::make_unique<gpu::InventoryReader>(*nvml_);
    if (!options.oneshot) Listen();  // its end would wait for NVML
  }
  auto inventory = reader_->Read();
  if (!inventory) {
    // What was known stays: labels do not vanish because the driver does not answer just now.
    if (options.fail_on_init_error && !looked_) return std::unexpected(std::move(inventory).error());
    Tell(inventory.error());
    Close();
    return looked_ ? &inventory_ : none;
  }
  const std::size_t readable = static_cast<std::size_t>(
      std::ranges::count_if(inventory->devices, [](const gpu::Device& d) { return d.unreadable.empty(); }));
  most_readable_ = std::max(most_readable_, readable);
  // The driver tells of a GPU's loss, but not of its return.
  if (readable == most_readable_)
    missing_for_.reset();
  else
    missing_for_ = missing_for_ ? std::min(*missing_for_ * 2, kLastRetry) : kFirstRetry;
  inventory_ = *std::move(inventory);
  looked_ = true;
  trouble_.clear();
  return &inventory_;
}

void Discovery::Tell(const Error& error) {
  if (trouble_ == error.text) return;
  trouble_ = error.text;
  log_.Warn("waiting for the driver", {{"reason", trouble_}});
}

void Discovery::Listen() {
  auto events = gpu::DeviceEvents::Start(*nvml_, executor_, [this](const gpu::DeviceEvent&) { Wake(); });
  blind_ = !events || !(*events)->unwatched().empty();
  if (!events) {
    log_.Info("the driver has no events", {{"reason", events.error().text}});
    return;
  }
  for (const auto& unwatched : (*events)->unwatched())
    log_.Info("a GPU has no events", {{"gpu", unwatched.uuid}, {"reason", unwatched.reason}});
  events_ = *std::move(events);
}

Result<bool> Discovery::Label(const Options& options) {
  ASSIGN(const gpu::Inventory* const inventory, Look(options));
  if (!host_) host_ = ReadHost(fs_, options.machine_type_file);
  HostFacts host = *host_;
  if (options.timestamp) host.timestamp = started_;
  auto made = MakeLabels(inventory, host, options.labels);
  for (const std::string& warning : made.warnings)
    if (std::ranges::find(warned_, warning) == warned_.end()) log_.Warn(warning);
  warned_ = std::move(made.warnings);
  if (labels_count_ != nullptr) {
    labels_count_->Set(static_cast<double>(made.labels.size()));
    gpus_->Set(inventory == nullptr ? 0 : static_cast<double>(inventory->devices.size()));
    driver_->Set(nvml_ == nullptr ? 0 : 1);
  }
  ASSIGN(const bool wrote, output_.Write(made.labels));
  if (wrote) log_.Info("labels written", {{"count", std::to_string(made.labels.size())}});
  return wrote;
}

Result<> Discovery::Pass(const Options& options) {
  const auto wrote = Label(options);
  if (passes_ != nullptr) {
    passes_->Add();
    if (!wrote) failures_->Add();
    if (wrote && *wrote) writes_->Add();
  }
  if (!wrote) {
    ailment_.Set("labels could not be written: " + wrote.error().text);
    return std::unexpected(wrote.error());
  }
  ailment_.Set(trouble_.empty() ? "" : "waiting for the driver: " + trouble_);
  return {};
}

bool Discovery::WaitForWork(const std::stop_token& stop, std::optional<Duration> limit, Options& options) {
  Lock l(mu_);
  const auto ready = [this]() REQUIRES(mu_) { return woken_; };
  if (limit)
    more_.wait_for(mu_, stop, *limit, ready);
  else
    more_.wait(mu_, stop, ready);
  woken_ = false;
  if (changed_ != nullptr) {
    options = std::move(*changed_);
    changed_.reset();
    host_.reset();
  }
  return !stop.stop_requested();
}

Result<> Discovery::Run(Options options, std::stop_token stop) {
  TRY(Pass(options));
  std::optional<Duration> retry;
  for (;;) {
    auto limit = retry ? retry : nvml_ == nullptr || blind_ ? options.interval : std::nullopt;
    os::SettleDown();
    if (missing_for_) limit = std::min(limit.value_or(kLastRetry), *missing_for_);
    if (!WaitForWork(stop, limit, options)) return {};
    if (auto done = Pass(options); done) {
      retry.reset();
    } else {
      retry = retry ? std::min(*retry * 2, kLastRetry) : kFirstRetry;
      log_.Error("labels could not be written", {{"reason", done.error().text}});
    }
  }
}

}  // namespace gpuop::operands::gfd
