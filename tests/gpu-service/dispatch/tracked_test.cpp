// The same random work under every way of tracking and every form of the arena leaves the memory that a model leaves.
#include <sys/mman.h>
#include <random>

#include "gpu-service/memory/write_tracker.hpp"
#include "tests/gpu-service/dispatch/executor_fixture.hpp"

namespace orrery::dispatch {
namespace {

struct Way {
  const char* name;
  const char* tracker;
  Coherence coherence;
  bool import;
};
constexpr Way kWays[] = {
    {"imported", "hash", Coherence::imported, true},     {"uffd_mirrored", "uffd", Coherence::mirrored, true},
    {"uffd_copied", "uffd", Coherence::mirrored, false}, {"hash_mirrored", "hash", Coherence::mirrored, true},
    {"hash_copied", "hash", Coherence::mirrored, false}, {"uffd_per_run", "uffd", Coherence::per_run, true},
    {"hash_per_run", "hash", Coherence::per_run, false},
};

// The guest's windows are really mapped at its addresses, as in the guest process, so that its writes can be tracked.
class Tracked : public vulkan::DeviceTest, public testing::WithParamInterface<Way> {
 protected:
  static constexpr uint64_t kArena = 64 << 20, kCode = 0x100000, kCodeOffset = 0x10000;
  static constexpr uint64_t kData = 0x40'1000'0000, kDataOffset = 0x400000, kDataBytes = 1 << 20;
  // The last quarter of the data once more.
  static constexpr uint64_t kAlias = 0x48'0000'0000, kAliasOffset = kDataOffset + kDataBytes / 4 * 3;
  static constexpr uint64_t kAliasBytes = kDataBytes / 4;

  void SetUp() override {
    DeviceTest::SetUp();
    if (device == nullptr) return;
    const bool by_kernel = std::string_view(GetParam().tracker) == "uffd";
    file_ = make_memory_file("arena", {kArena}).value();
    service_ = Mapping::of(file_, {0}, {kArena}).value();
    map_words_.resize(protocol::address_map_memory() / 8 + 1);
    const auto map_bytes = std::as_writable_bytes(std::span(map_words_));
    std::vector<protocol::MapEntry> entries{TestGuest::entry(kCode, 0x4000, kCodeOffset),
                                            TestGuest::entry(kData, kDataBytes, kDataOffset),
                                            TestGuest::entry(kAlias, kAliasBytes, kAliasOffset)};
    std::unique_ptr<memory::Harvester> harvester = memory::make_content_harvester(service_.bytes());
    if (by_kernel) {
      if (auto probed = probe_write_watch(); !probed) GTEST_SKIP() << probed.error().describe();
      watch_.emplace(WriteWatch::open().value());
      harvester = memory::make_page_table_harvester(watch_->pagemap().value()).value();
    }
    for (const auto& entry : entries) {
      void* const at = ::mmap(reinterpret_cast<void*>(entry.guest_begin), entry.size, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED_NOREPLACE, file_.get(), static_cast<off_t>(entry.arena_offset));
      if (at != reinterpret_cast<void*>(entry.guest_begin)) GTEST_SKIP() << "the guest's addresses are taken";
      windows_.emplace_back(at, entry.size);
      if (watch_) {
        ASSERT_TRUE(watch_->add({entry.guest_begin, entry.guest_begin + entry.size}));
      }
    }
    memory_ = std::make_unique<memory::GuestMemory>(service_.bytes(), protocol::AddressMapReader(map_bytes, {kArena}));
    ASSERT_TRUE(protocol::AddressMapWriter(map_bytes).publish(entries));
    tracker_ = std::make_unique<memory::WriteTracker>(service_.bytes(), std::move(harvester));
    const ExecutorOptions options{
        .coherence = GetParam().coherence, .import_arena = GetParam().import, .tracker = tracker_.get()};
    executor_ = std::move(*DispatchExecutor::create(*device, *memory_, options, abi_kernel_translator()));
    put(kCode, kPageCopy);
    put(kCode + 0x100, kBoundAdd);
    ASSERT_TRUE(executor_->acquire());
  }
  void TearDown() override {
    executor_.reset();
    DeviceTest::TearDown();
  }
  static void put(uint64_t address, uint32_t value) {
    std::atomic_ref(*reinterpret_cast<uint32_t*>(address)).store(value, std::memory_order_relaxed);
  }
  static uint32_t get(uint64_t address) {
    return std::atomic_ref(*reinterpret_cast<uint32_t*>(address)).load(std::memory_order_relaxed);
  }

  std::vector<uint64_t> map_words_;
  UniqueFd file_;
  Mapping service_;
  std::vector<Mapping> windows_;
  std::optional<WriteWatch> watch_;
  std::unique_ptr<memory::GuestMemory> memory_;
  std::unique_ptr<memory::WriteTracker> tracker_;
  std::unique_ptr<DispatchExecutor> executor_;
};
INSTANTIATE_TEST_SUITE_P(By, Tracked, testing::ValuesIn(kWays), [](const auto& info) { return info.param.name; });

TEST_P(Tracked, random_work_of_cpu_and_gpu_leaves_what_a_model_leaves) {
  constexpr uint32_t kWords = kDataBytes / 4, kAliasWord = kAliasOffset / 4 - kDataOffset / 4;
  std::vector<uint32_t> model(kWords);
  std::mt19937 random(77);
  for (uint32_t i = 0; i < kWords; ++i) put(kData + 4ull * i, model[i] = static_cast<uint32_t>(random()));
  // A word by one of its addresses.
  const auto address = [&](uint32_t word) {
    return word >= kAliasWord && random() % 2 == 0 ? kAlias + 4ull * (word - kAliasWord) : kData + 4ull * word;
  };
  const auto range = [&](uint32_t words) {
    // Mostly in a few places, so that pages are met again and some become hot.
    const uint32_t begin = static_cast<uint32_t>(random() % 4 == 0 ? random() % kWords : random() % 4 * (kWords / 4));
    return std::min(begin, kWords - words);
  };
  for (int step = 0; step < 400; ++step) {
    const auto words = static_cast<uint32_t>(1 + random() % 3000);
    const uint32_t from = range(words), to = range(words);
    const bool apart = from + words <= to || to + words <= from;
    switch (random() % 6) {
      case 0:  // the CPU, then an acquire point
      case 1:
        if (auto found = executor_->finish(); !found || !found->empty()) FAIL() << "step " << step;
        for (uint32_t i = 0; i < words; i += 1 + static_cast<uint32_t>(random() % 64)) {
          put(address(from + i), model[from + i] = static_cast<uint32_t>(random()));
        }
        ASSERT_TRUE(executor_->acquire());
        break;
      case 2: {
        const auto value = static_cast<uint32_t>(random());
        ASSERT_TRUE(executor_->fill({kData + 4ull * to}, {4ull * words}, value).empty());
        std::fill_n(model.begin() + to, words, value);
        break;
      }
      case 3:
        if (!apart) break;
        ASSERT_TRUE(executor_->copy({kData + 4ull * to}, {kData + 4ull * from}, {4ull * words}).empty());
        std::copy_n(model.begin() + from, words, model.begin() + to);
        break;
      default: {
        if (!apart) break;
        const bool bound = random() % 2 == 0;
        DispatchState state;
        state.program = {kCode + (bound ? 0x100u : 0u)};
        state.initiator = kWave32 | kThreadDimensions;
        state.group_size = {32, 1, 1};
        state.groups = {words, 1, 1};
        const auto set = [&](size_t at, uint64_t value) {
          state.user_data[at] = static_cast<uint32_t>(value);
          state.user_data[at + 1] = static_cast<uint32_t>(value >> 32);
        };
        set(0, kData + 4ull * from);
        set(bound ? 4 : 2, kData + 4ull * to);
        if (bound) {
          for (const size_t at : {2, 6}) {
            state.user_data[at] = 4 * words;
            state.user_data[at + 1] = 3u << 28;
          }
          state.user_data[8] = 5;
        }
        ASSERT_TRUE(executor_->dispatch(state).empty());
        for (uint32_t i = 0; i < words; ++i) model[to + i] = model[from + i] + (bound ? 5 : 1);
      }
    }
  }
  const auto found = executor_->finish();
  ASSERT_TRUE(found && found->empty());
  for (uint32_t i = 0; i < kWords; ++i) ASSERT_EQ(get(kData + 4ull * i), model[i]) << i;
  EXPECT_EQ(tracker_->method(), GetParam().tracker);
  EXPECT_EQ(executor_->counters().mirrors.conflicts, 0u);
}

TEST_P(Tracked, a_store_of_the_gpu_is_no_change_by_the_cpu_where_the_two_can_be_told_apart) {
  DispatchState state;
  state.program = {kCode};
  state.initiator = kWave32 | kStartAtZero;
  state.group_size = {32, 1, 1};
  state.groups = {100, 1, 1};
  state.user_data = {static_cast<uint32_t>(kData), kData >> 32, static_cast<uint32_t>(kData + 0x80000), kData >> 32};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(executor_->dispatch(state).empty());
    ASSERT_TRUE(executor_->finish());
    ASSERT_TRUE(executor_->acquire());
  }
  const uint64_t uploaded = executor_->counters().mirrors.uploaded_bytes;
  // Each page once, and pages that were never armed.
  constexpr uint64_t kOnce = kDataBytes + 0x4000 + 4 * kHostPage;
  if (GetParam().coherence == Coherence::imported) {
    EXPECT_EQ(uploaded, 0u);
  } else if (watch_) {
    EXPECT_GE(uploaded, kDataBytes);
    EXPECT_LE(uploaded, kOnce);
  } else {
    EXPECT_GT(uploaded, kOnce) << "contents can't tell who wrote";
  }
  EXPECT_EQ(get(kData + 0x80000), 1u);
}

}  // namespace
}  // namespace orrery::dispatch
