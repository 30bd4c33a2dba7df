// run_kernel: one corpus kernel on the Vulkan device with given arguments; for whoever debugs the translator.
//   run_kernel build/shader-corpus/saxpy.w32 --groups 4,1,1 f32:2 buf:1024:iota buf:1024:ones u32:256 --show 8
// An argument is u32:N, f32:X, buf:BYTES[:zero|ones|iota|random] (32-bit elements; ones and iota are floats with an f
// in front: fones, fiota) or file:PATH. Every buffer's hash is printed afterwards, --show N its first words, --dump DIR
// the bytes.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "shared/content_hash.hpp"
#include "shared/log.hpp"
#include "tests/gpu-service/dispatch/corpus_kernel.hpp"

namespace orrery::dispatch {
namespace {

std::vector<std::byte> made_buffer(uint64_t size, const std::string& how) {
  std::vector<uint32_t> words(size / 4);
  uint32_t state = 1;
  for (uint32_t i = 0; i < words.size(); ++i) {
    state = state * 1664525 + 1013904223;
    if (how == "ones") words[i] = 1;
    if (how == "iota") words[i] = i;
    if (how == "fones") words[i] = std::bit_cast<uint32_t>(1.0f);
    if (how == "fiota") words[i] = std::bit_cast<uint32_t>(static_cast<float>(i));
    if (how == "random") words[i] = state;
  }
  auto bytes = bytes_of_numbers(words);
  bytes.resize(size);
  return bytes;
}

KernelValue parse(const std::string& text, std::vector<std::unique_ptr<std::vector<std::byte>>>& buffers) {
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "u32") return static_cast<uint32_t>(std::stoul(rest, nullptr, 0));
  if (kind == "f32") return std::stof(rest);
  std::vector<std::byte> bytes;
  if (kind == "buf") {
    const auto second = rest.find(':');
    bytes = made_buffer(std::stoull(rest.substr(0, second), nullptr, 0),
                        second == std::string::npos ? "zero" : rest.substr(second + 1));
  } else if (kind == "file") {
    std::ifstream in(rest, std::ios::binary);
    std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
    bytes = bytes_of_numbers(chars);
  } else {
    throw std::runtime_error("no argument of a kernel: " + text);
  }
  buffers.push_back(std::make_unique<std::vector<std::byte>>(std::move(bytes)));
  return buffers.back().get();
}

std::array<uint32_t, 3> three(const std::vector<uint32_t>& values, uint32_t fill) {
  std::array<uint32_t, 3> out{fill, fill, fill};
  for (size_t i = 0; i < values.size() && i < 3; ++i) out[i] = values[i];
  return out;
}

int run(int argc, char** argv) {
  CLI::App app("Runs one kernel of the shader corpus on the Vulkan device.");
  std::string base, dump;
  std::vector<uint32_t> groups{1, 1, 1}, threads, group_size;
  std::vector<std::string> arguments;
  uint32_t show = 0;
  bool mirror = false;
  app.add_option("kernel", base, "corpus file without suffix")->required();
  app.add_option("arguments", arguments, "u32:N f32:X buf:BYTES[:zero|ones|iota|fones|fiota|random] file:PATH");
  app.add_option("--groups", groups)->delimiter(',')->allow_extra_args(false);
  app.add_option("--threads", threads, "instead of --groups: partial last groups")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--group-size", group_size, "instead of the kernel's own")->delimiter(',')->allow_extra_args(false);
  app.add_option("--show", show, "words of each buffer to print");
  app.add_option("--dump", dump, "folder for the buffers' bytes");
  app.add_flag("--mirror", mirror, "mirror guest memory instead of importing it");
  CLI11_PARSE(app, argc, argv);
  start_log("run_kernel");
  const auto failed = [](const Error& error) {
    std::cerr << error.describe() << '\n';
    return static_cast<int>(error.code);
  };
  const auto kernel = CorpusKernel::load(base);
  if (!kernel) return failed(kernel.error());
  std::vector<std::unique_ptr<std::vector<std::byte>>> buffers;
  std::vector<KernelValue> values;
  for (const auto& argument : arguments) values.push_back(parse(argument, buffers));
  TestGuest guest(1ull << 30);
  const auto device = vulkan::Device::open({});
  if (!device) return failed(device.error());
  auto executor = DispatchExecutor::create(**device, *guest.memory, {.import_arena = !mirror});
  if (!executor) return failed(executor.error());
  KernelLaunch launch;
  launch.groups = three(groups, 1);
  if (!threads.empty()) launch.threads = three(threads, 1);
  if (!group_size.empty()) launch.group_size = three(group_size, 1);
  const auto refusals = run_kernel(**executor, guest, *kernel, launch, values);
  if (!refusals) return failed(refusals.error());
  std::cout << *refusals;
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::cout << "buffer " << i << ": " << buffers[i]->size() << " bytes, " << hash_bytes(*buffers[i]).hex() << '\n';
    const auto words = numbers_of<uint32_t>(*buffers[i]);
    for (uint32_t w = 0; w < show && w < words.size(); ++w) {
      std::cout << fmt::format("  {:4}: {:08x} {}\n", w, words[w], std::bit_cast<float>(words[w]));
    }
    if (!dump.empty()) {
      std::filesystem::create_directories(dump);
      std::ofstream(dump + "/buffer" + std::to_string(i) + ".bin", std::ios::binary)
          .write(reinterpret_cast<const char*>(buffers[i]->data()), static_cast<std::streamsize>(buffers[i]->size()));
    }
  }
  return refusals->empty() ? 0 : 1;
}

}  // namespace
}  // namespace orrery::dispatch

int main(int argc, char** argv) {
  try {
    return orrery::dispatch::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(orrery::ExitCode::usage);
  }
}
