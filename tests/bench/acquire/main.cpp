// bench_acquire: what an acquire point of mirrored memory costs, against the scan of the page tables alone and the copy
// of what was written alone, in turn in one run.
#include <algorithm>
#include <chrono>
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "gpu-service/dispatch/mirror_sync.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "shared/log.hpp"
#include "tests/bench/acquire/writing_process.hpp"

namespace orrery::bench {
namespace {

using dispatch::ArenaRange;

double us_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

struct Samples {
  std::vector<double> all;
  double at(double part) {
    std::ranges::sort(all);
    return all.empty() ? 0 : all[std::min(all.size() - 1, static_cast<size_t>(part * static_cast<double>(all.size())))];
  }
  double median() { return at(0.5); }
};

// Of one share of rewritten pages, in microseconds.
struct Measured {
  double percent = 0, pages = 0;
  Samples acquire, scan, copy, per_run, between;
  double ratio() { return acquire.median() / (scan.median() + copy.median()); }
};

class Bench {
 public:
  static Result<std::unique_ptr<Bench>> create(const vulkan::Device& device, std::span<std::byte> arena,
                                               const ArenaShape& shape, WritingProcess& writer);
  Result<Measured> measure(double percent, int rounds);

 private:
  Bench(const vulkan::Device& device, std::span<std::byte> arena, const ArenaShape& shape, WritingProcess& writer)
      : shape_(shape), writer_(writer), buffers_(device, arena, true, true) {}
  Result<double> acquire_point();
  // The baselines take what was written away from the tracker; only times matter here.
  Result<double> scan_alone();
  Result<double> copy_alone();
  Result<double> harvest_per_run();

  ArenaShape shape_;
  WritingProcess& writer_;
  dispatch::ArenaBuffers buffers_;
  std::optional<memory::WriteTracker> tracker_;
  std::optional<dispatch::BatchRing> batches_;
  std::unique_ptr<dispatch::MirrorSync> mirrors_;
  std::optional<WriteScan> scan_;
  vulkan::Buffer plain_;  // what the plain copies fill
  std::vector<AddressRange> found_;
};

Result<std::unique_ptr<Bench>> Bench::create(const vulkan::Device& device, std::span<std::byte> arena,
                                             const ArenaShape& shape, WritingProcess& writer) {
  std::unique_ptr<Bench> bench(new Bench(device, arena, shape, writer));
  const auto windows = shape.windows();
  auto tables = writer.pagemap(), own_tables = writer.pagemap();
  if (!tables) return std::unexpected(std::move(tables.error()));
  if (!own_tables) return std::unexpected(std::move(own_tables.error()));
  auto harvester = memory::make_page_table_harvester(std::move(*tables));
  if (!harvester) return std::unexpected(std::move(harvester.error()));
  bench->tracker_.emplace(arena, std::move(*harvester));
  bench->tracker_->map_changed(windows);
  auto scan = WriteScan::open(std::move(*own_tables));
  if (!scan) return std::unexpected(std::move(scan.error()));
  bench->scan_.emplace(std::move(*scan));
  auto made = bench->buffers_.update(windows);
  if (!made) return std::unexpected(std::move(made.error()));
  if (!bench->buffers_.imports()) return fail(ExitCode::no_device, "the device can't import host memory");
  auto ring = dispatch::BatchRing::create(device, std::chrono::seconds(60));
  if (!ring) return std::unexpected(std::move(ring.error()));
  bench->batches_.emplace(std::move(*ring));
  auto mirrors =
      dispatch::MirrorSync::create(device, arena, bench->buffers_, *bench->tracker_, *bench->batches_, false);
  if (!mirrors) return std::unexpected(std::move(mirrors.error()));
  bench->mirrors_ = std::move(*mirrors);
  bench->mirrors_->made_anew(*made);
  auto plain = vulkan::Buffer::create(device, {arena.size()}, vulkan::BufferPlace::device, "plain copy");
  if (!plain) return std::unexpected(std::move(plain.error()));
  bench->plain_ = std::move(*plain);
  // Everything is on the device, and armed.
  if (auto first = bench->acquire_point(); !first) return std::unexpected(std::move(first.error()));
  return bench;
}

Result<double> Bench::acquire_point() {
  const auto begin = std::chrono::steady_clock::now();
  mirrors_->acquire();
  mirrors_->harvest_for_anything();
  ORRERY_TRY(mirrors_->want_all());
  ORRERY_TRY(batches_->wait());
  return us_since(begin);
}

Result<double> Bench::scan_alone() {
  found_.clear();
  const auto begin = std::chrono::steady_clock::now();
  ORRERY_TRY(scan_->harvest(shape_.guest(), found_));
  return us_since(begin);
}

Result<double> Bench::copy_alone() {
  const auto begin = std::chrono::steady_clock::now();
  VkBuffer from = VK_NULL_HANDLE;
  std::vector<VkBufferCopy> regions;
  const auto copy = [&]() -> Result<void> {
    if (regions.empty()) return {};
    auto commands = batches_->step();
    if (!commands) return std::unexpected(std::move(commands.error()));
    vkCmdCopyBuffer(*commands, from, plain_.handle(), static_cast<uint32_t>(regions.size()), regions.data());
    regions.clear();
    return {};
  };
  for (AddressRange range : found_) {
    while (range.begin < range.end) {
      const uint64_t inside = range.begin - ArenaShape::kBase, piece = inside / shape_.piece_bytes;
      const uint64_t offset = piece * shape_.stride() + inside % shape_.piece_bytes;
      const auto import = buffers_.find_import({offset});
      if (!import) return fail(ExitCode::internal, "arena byte {:#x} is not imported", offset);
      const uint64_t size =
          std::min({range.end - range.begin, import->available, shape_.piece_bytes - inside % shape_.piece_bytes});
      if (import->buffer != from) ORRERY_TRY(copy());
      from = import->buffer;
      regions.push_back({import->offset, offset, size});
      range.begin += size;
    }
  }
  ORRERY_TRY(copy());
  ORRERY_TRY(batches_->wait());
  return us_since(begin);
}

Result<double> Bench::harvest_per_run() {
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& window : shape_.windows()) {
    found_.clear();
    ORRERY_TRY(scan_->harvest({window.guest_begin, window.guest_begin + window.size}, found_));
  }
  return us_since(begin);
}

Result<Measured> Bench::measure(double percent, int rounds) {
  Measured measured{.percent = percent};
  const auto timed = [&](Samples& samples, Result<double> (Bench::*part)()) -> Result<void> {
    auto took = (this->*part)();
    if (!took) return std::unexpected(std::move(took.error()));
    samples.all.push_back(*took);
    return {};
  };
  for (int round = 0; round < rounds; ++round) {
    ORRERY_TRY(writer_.rewrite(percent));
    ORRERY_TRY(timed(measured.acquire, &Bench::acquire_point));
    const auto begin = std::chrono::steady_clock::now();
    mirrors_->harvest_for_anything();
    ORRERY_TRY(mirrors_->want_all());
    measured.between.all.push_back(us_since(begin));
    ORRERY_TRY(writer_.rewrite(percent));
    ORRERY_TRY(timed(measured.scan, &Bench::scan_alone));
    for (const AddressRange& range : found_)
      measured.pages += static_cast<double>((range.end - range.begin) / kHostPage);
    ORRERY_TRY(timed(measured.copy, &Bench::copy_alone));
    ORRERY_TRY(writer_.rewrite(percent));
    ORRERY_TRY(timed(measured.per_run, &Bench::harvest_per_run));
  }
  measured.pages /= rounds;
  return measured;
}

std::string json_of(Measured& m) {
  return fmt::format(
      R"({{"percent": {}, "pages": {:.0f}, "acquire_us": {:.2f}, "acquire_p10_us": {:.2f}, "acquire_p90_us": {:.2f}, )"
      R"("scan_us": {:.2f}, "copy_us": {:.2f}, "ratio": {:.3f}, "per_run_scans_us": {:.2f}, "between_us": {:.3f}}})",
      m.percent, m.pages, m.acquire.median(), m.acquire.at(0.1), m.acquire.at(0.9), m.scan.median(), m.copy.median(),
      m.ratio(), m.per_run.median(), m.between.median());
}

int run(int argc, char** argv) {
  CLI::App app("What an acquire point costs, against the scan and the copy that it can't do without.");
  uint64_t mib = 42, runs = 256;
  int rounds = 30;
  std::vector<double> shares{0, 1, 10, 100};
  std::string json;
  vulkan::DeviceOptions device_options;
  app.add_option("--mib", mib)->check(CLI::Range(1, 4096))->capture_default_str();
  app.add_option("--runs", runs, "pieces of the arena")->check(CLI::Range(1, 4096))->capture_default_str();
  app.add_option("--rounds", rounds)->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--share", shares, "percent of pages rewritten before each")->delimiter(',')->capture_default_str();
  app.add_option("--json", json, "file for everything that was measured");
  app.add_option("--gpu", device_options.choice.index, "the device's number");
  app.add_flag("--cpu", device_options.choice.cpu, "the software device");
  CLI11_PARSE(app, argc, argv);
  start_log("bench");
  const auto failed = [](const Error& error) {
    std::cerr << "bench_acquire: " << error.describe() << '\n';
    return static_cast<int>(error.code);
  };
  const ArenaShape shape{runs, align_up((mib << 20) / runs, ArenaShape::kGuestPage)};
  const auto file = make_memory_file("arena", {shape.arena_bytes()});
  if (!file) return failed(file.error());
  auto writer = WritingProcess::start(*file, shape);
  if (!writer) return failed(writer.error());
  const auto arena = Mapping::of(*file, {0}, {shape.arena_bytes()});
  if (!arena) return failed(arena.error());
  const auto device = vulkan::Device::open(device_options);
  if (!device) return failed(device.error());
  auto bench = Bench::create(**device, arena->bytes(), shape, *writer);
  if (!bench) return failed(bench.error());
  std::string list;
  std::cout << (*device)->facts().name << ", " << runs << " pieces of " << shape.piece_bytes / 1024 << " KiB\n";
  for (const double share : shares) {
    auto measured = (*bench)->measure(share, rounds);
    if (!measured) return failed(measured.error());
    std::cout << fmt::format(
        "{:5} % rewritten ({:.0f} pages): acquire point {:.1f} us ({:.1f} to {:.1f}); scan alone {:.1f}, copy alone "
        "{:.1f}: "
        "{:.2f} times them; a scan per run {:.1f} us; a dispatch between acquire points {:.3f} us\n",
        measured->percent, measured->pages, measured->acquire.median(), measured->acquire.at(0.1),
        measured->acquire.at(0.9), measured->scan.median(), measured->copy.median(), measured->ratio(),
        measured->per_run.median(), measured->between.median());
    list += (list.empty() ? "" : ",\n ") + json_of(*measured);
  }
  if (!json.empty()) std::ofstream(json) << "[" << list << "]\n";
  return 0;
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) { return orrery::bench::run(argc, argv); }
