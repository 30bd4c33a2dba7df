// Translations on disk: a second life takes them; damaged, cut-off, foreign and unreadable files are ignored.
#include "gpu-service/dispatch/translation_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstring>
#include <fstream>
#include <set>

#include "gpu-service/dispatch/module_bytes.hpp"

namespace orrery::dispatch {
namespace {

namespace fs = std::filesystem;

// s_mov_b32 s0, WORD; s_endpgm
shader::Program program_with(uint32_t word) {
  const std::vector<uint32_t> words{0xbe8003ff, word, 0xbf810000};
  auto program = shader::read_program([&](uint32_t offset, uint32_t dwords) {
    const auto all = std::span<const uint32_t>(words);
    if (offset / 4 >= all.size()) return std::span<const uint32_t>{};
    return all.subspan(offset / 4, std::min<size_t>(dwords, all.size() - offset / 4));
  });
  EXPECT_TRUE(program);
  return program.value_or(shader::Program{});
}

shader::Module full_module(const shader::TranslateOptions& options) {
  shader::Module m;
  m.spirv = {0x07230203, 1, 2, 3};
  m.layout = options.layout;
  m.local_size = {128, 1, 1};
  m.buffers = {{shader::DescriptorSource::user(4), true, false},
               {shader::DescriptorSource::chain(2, {16, 32}), true, true}};
  m.images = {{{shader::DescriptorSource::user(0), shader::DescriptorSource::user(4)}, true, false},
              {{shader::DescriptorSource::chain(2, {0}), shader::DescriptorSource::chain(2, {16})}, false, true}};
  m.samplers = {shader::DescriptorSource::user(8)};
  m.uses_page_table = m.lds_in_memory = m.dispatcher_loop = true;
  m.group_memory = 1ull << 33;
  m.reaches_images_only = m.writes_anywhere = true;
  m.write_instruction = 20;
  m.write_reason = shader::TraceEnd::wave;
  m.workgroup_bytes = 512;
  m.needs = {.votes = true, .lds = true, .private_memory = true, .wide_lds_atomics = true};
  m.guest_instructions = 99;
  return m;
}

void expect_same(const shader::Module& a, const shader::Module& b) {
  std::vector<std::byte> x, y;
  append_module(x, a);
  append_module(y, b);
  EXPECT_EQ(x, y);
  EXPECT_EQ(a.spirv, b.spirv);
  EXPECT_EQ(a.layout, b.layout);
  EXPECT_EQ(a.needs, b.needs);
  ASSERT_EQ(a.buffers.size(), b.buffers.size());
  for (size_t i = 0; i < a.buffers.size(); ++i) EXPECT_EQ(a.buffers[i].source, b.buffers[i].source);
  ASSERT_EQ(a.images.size(), b.images.size());
  for (size_t i = 0; i < a.images.size(); ++i) EXPECT_EQ(a.images[i].source, b.images[i].source);
  EXPECT_EQ(a.samplers, b.samplers);
}

struct Translations : testing::Test {
  fs::path directory = fs::path(testing::TempDir()) / ("orrery-translations-" + std::to_string(getpid()));
  shader::Program program = program_with(1);
  shader::TranslateOptions options;
  fs::path path = TranslationStore(directory).path_of(program, options);
  void SetUp() override { fs::remove_all(directory); }
  void TearDown() override { fs::remove_all(directory); }
  bool loads() { return TranslationStore(directory).load(program, options).has_value(); }
  void save() { TranslationStore(directory).save(program, options, full_module(options)); }
};

TEST_F(Translations, a_second_life_takes_what_the_first_one_made) {
  EXPECT_FALSE(loads());
  save();
  const auto module = TranslationStore(directory).load(program, options);
  ASSERT_TRUE(module);
  expect_same(*module, full_module(options));
  // Nothing but the published file is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), fs::directory_iterator{}), 1);
}

TEST_F(Translations, a_real_translation_comes_back_as_it_was) {
  const auto made = shader::translate(program, options);
  ASSERT_TRUE(made);
  TranslationStore(directory).save(program, options, *made);
  const auto module = TranslationStore(directory).load(program, options);
  ASSERT_TRUE(module);
  expect_same(*module, *made);
}

TEST_F(Translations, another_program_option_layout_or_build_is_another_file) {
  save();
  std::set<fs::path> paths{path};
  const auto other = [&](auto change) {
    shader::TranslateOptions o = options;
    change(o);
    EXPECT_TRUE(paths.insert(TranslationStore(directory).path_of(program, o)).second) << paths.size();
    EXPECT_FALSE(TranslationStore(directory).load(program, o));
  };
  EXPECT_TRUE(paths.insert(TranslationStore(directory).path_of(program_with(2), options)).second);
  EXPECT_TRUE(paths.insert(TranslationStore(directory, ContentHash{1, 2}).path_of(program, options)).second);
  other([](auto& o) { o.layout = shader::whole_wave_layout(32); });
  other([](auto& o) { o.layout.exchange = shader::LaneExchange::workgroup; });
  other([](auto& o) { o.layout.exchange = shader::LaneExchange::none; });
  other([](auto& o) { o.group_size[2] = 2; });
  other([](auto& o) { o.rsrc1 = 1; });
  other([](auto& o) { o.rsrc2 = 1; });
  other([](auto& o) { o.partial_groups = true; });
  other([](auto& o) { o.bind_buffers = false; });
  other([](auto& o) { o.scratch_dwords = 1; });
  other([](auto& o) { o.host.fuses_fma = false; });
  other([](auto& o) { o.host.fma_keeps_denormals = false; });
  other([](auto& o) { o.host.rounds_halves = false; });
  other([](auto& o) { o.host.lockstep_subgroups = true; });
  other([](auto& o) { o.host.loop_limit = 1; });
  other([](auto& o) { o.host.workgroup_memory = 1; });
  other([](auto& o) { o.host.workgroup_views = true; });
  other([](auto& o) { o.host.shared_int64_atomics = false; });
  other([](auto& o) { o.host.buffer_int64_atomics = false; });
}

TEST_F(Translations, a_file_cut_off_anywhere_is_ignored) {
  save();
  const uint64_t whole = fs::file_size(path);
  for (uint64_t size = whole; size-- > 0;) {
    fs::resize_file(path, size);
    EXPECT_FALSE(loads()) << size;
  }
}

TEST_F(Translations, a_file_with_one_changed_byte_is_ignored) {
  save();
  const uint64_t whole = fs::file_size(path);
  for (uint64_t at = 0; at < whole; ++at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int old = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(old ^ 0x41));
    file.close();
    EXPECT_FALSE(loads()) << at;
    save();
  }
}

TEST_F(Translations, another_programs_file_under_this_name_is_ignored) {
  save();
  TranslationStore store(directory);
  store.save(program_with(2), options, full_module(options));
  fs::rename(store.path_of(program_with(2), options), path);
  EXPECT_FALSE(loads());
}

TEST_F(Translations, no_bytes_are_read_as_a_module_that_reach_beyond_their_end) {
  std::vector<std::byte> bytes;
  append_module(bytes, full_module(options));
  EXPECT_TRUE(module_of(bytes));
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(module_of(std::span(bytes).first(size))) << size;
  bytes.push_back({});
  EXPECT_FALSE(module_of(bytes));
}

TEST_F(Translations, a_pipe_or_folder_in_the_files_place_is_ignored_and_not_waited_for) {
  fs::create_directories(directory);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(loads());
  save();  // takes the pipe's place
  EXPECT_TRUE(loads());
  fs::remove(path);
  fs::create_directories(path);
  EXPECT_FALSE(loads());
  save();
  EXPECT_FALSE(loads());
}

TEST_F(Translations, a_directory_that_cannot_be_made_stops_nothing) {
  std::ofstream(directory) << "a file, not a directory";
  save();
  EXPECT_FALSE(loads());
  TranslationStore nowhere("");
  nowhere.save(program, options, full_module(options));
  EXPECT_EQ(nowhere.saved(), 0u);
}

TEST_F(Translations, the_folder_stays_within_its_bound_and_keeps_what_was_used_last) {
  shader::Module big = full_module(options);
  big.spirv.resize(1000);
  constexpr uint64_t kBound = 40'000;
  TranslationStore store(directory, translator_build(), kBound);
  for (uint32_t n = 0; n < 30; ++n) {
    store.save(program_with(n), options, big);
    // The first one is used all the time; file times are coarse, so the others are made older.
    for (const auto& entry : fs::directory_iterator(directory)) {
      if (entry.path() != store.path_of(program_with(n), options))
        fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    EXPECT_TRUE(store.load(program_with(0), options)) << n;
    uint64_t held = 0;
    for (const auto& entry : fs::directory_iterator(directory)) held += entry.file_size();
    EXPECT_LE(held, kBound);
  }
  EXPECT_EQ(store.saved(), 30u);
}

TEST_F(Translations, what_a_dead_writer_left_goes_after_an_hour) {
  fs::create_directories(directory);
  const fs::path old = path.string() + ".abcdef", fresh = path.string() + ".ghijkl";
  std::ofstream(old) << "half";
  std::ofstream(fresh) << "half";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  save();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

}  // namespace
}  // namespace orrery::dispatch
