// Takes every gfx1030 kernel of HIP libraries through decoder, translator and validator, and says what came of it.
// `scripts/corpora` fetches the libraries.
#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <unordered_set>

#include "tests/gpu-service/shader/corpora/fat_binary.hpp"
#include "tests/gpu-service/shader/corpora/survey.hpp"
#include "tests/gpu-service/shader/decode/comparison.hpp"
#include "tests/gpu-service/shader/opencl/workers.hpp"

namespace orrery::corpora {
namespace {

constexpr int kSkipped = 77;  // ctest's SKIP_RETURN_CODE

struct Options {
  std::vector<std::string> libraries;
  SurveyOptions survey;
  std::string only, folder, skip_without;
  uint32_t every = 1;
  unsigned jobs = 2;
  double limit = 120, percent = 99;
  bool decode_only = false, no_validation = false, llvm = false, verbose = false;
};

struct Item {
  size_t object, kernel;
};

// A finding on its way out of a worker: one line per layout.
std::string packed(const Finding& finding) {
  std::string text = fmt::format("{} {}\n{}\n", finding.instructions, finding.read_seconds, finding.unread);
  for (const LayoutFinding& layout : finding.layouts) {
    std::string reasons;
    for (const std::string& reason : layout.reasons) {
      if (reasons.size() + reason.size() < 400) reasons += '\t' + reason;
    }
    text += fmt::format("{:d} {:d} {} {} {:d}{}\n", layout.translated, layout.valid, layout.seconds, layout.words,
                        layout.dispatcher_loop, reasons);
  }
  return text;
}

Finding unpacked(const std::string& text) {
  Finding finding;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  std::istringstream(line) >> finding.instructions >> finding.read_seconds;
  std::getline(lines, finding.unread);
  while (std::getline(lines, line)) {
    LayoutFinding& layout = finding.layouts.emplace_back();
    std::istringstream fields(line);
    fields >> layout.translated >> layout.valid >> layout.seconds >> layout.words >> layout.dispatcher_loop;
    std::string reason;
    std::getline(fields, reason, '\t');
    while (std::getline(fields, reason, '\t')) layout.reasons.push_back(reason);
  }
  return finding;
}

struct Sums {
  uint64_t kernels = 0, translated = 0, valid = 0, instructions = 0, words = 0, dispatchers = 0;
  double seconds = 0;
  std::vector<double> per_instruction;                         // us
  std::multimap<double, std::string, std::greater<>> slowest;  // us per instruction
  std::map<std::string, uint64_t> reasons;                     // kernels that have it
};

class Survey {
 public:
  explicit Survey(const Options& options) : options_(options), sums_(options.survey.subgroups.size()) {}

  int run() {
    for (const std::string& library : options_.libraries) {
      auto fat = FatBinary::open(library, "gfx1030");
      if (!fat) {
        std::cerr << fat.error() << '\n';
        return 1;
      }
      for (const auto bytes : fat->code_objects()) add_object(bytes);
      binaries_.push_back(std::move(*fat));
    }
    std::cout << fmt::format("{} kernels in {} code objects\n", items_.size(), objects_.size()) << std::flush;
    bool good = !items_.empty() && unreadable_objects_ == 0;
    if (options_.llvm) good = against_llvm() && good;
    if (!options_.decode_only) {
      survey_all();
      good = sums() && good;
    }
    return good ? 0 : 1;
  }

 private:
  void add_object(std::span<const std::byte> bytes) {
    auto object = opencl::read_code_object(bytes);
    if (!object) {
      ++unreadable_objects_;
      std::cout << "NO OBJECT  " << object.error() << '\n';
      return;
    }
    for (size_t i = 0; i < object->kernels.size(); ++i) {
      if (object->kernels[i].name.find(options_.only) == std::string::npos) continue;
      if (seen_++ % options_.every == 0) items_.push_back({objects_.size(), i});
    }
    objects_.push_back(std::move(*object));
  }

  // Every different instruction of the chosen kernels, as LLVM prints it and as we do.
  bool against_llvm() {
    struct Hash {
      size_t operator()(const shader::testing::WordGroup& words) const {
        return hash_bytes(std::as_bytes(std::span(words))).low;
      }
    };
    std::unordered_set<shader::testing::WordGroup, Hash> different;
    uint64_t instructions = 0, unread = 0;
    for (const Item& item : items_) {
      const auto program = read_kernel(objects_[item.object], objects_[item.object].kernels[item.kernel]);
      if (!program) {
        ++unread;
        continue;
      }
      instructions += program->instructions.size();
      for (const auto& instruction : program->instructions) {
        different.emplace(instruction.words.begin(), instruction.words.begin() + instruction.size / 4);
      }
    }
    const std::vector<shader::testing::WordGroup> all(different.begin(), different.end());
    shader::testing::Comparison total;
    constexpr size_t kBatch = 100'000;
    for (size_t at = 0; at < all.size(); at += kBatch) {
      const auto batch = std::span(all).subspan(at, std::min(kBatch, all.size() - at));
      total.add(shader::testing::compare(batch, shader::Target::gfx1030, 32));
    }
    std::cout << fmt::format("decoded {} instructions, {} different; {} programs could not be read\n{}", instructions,
                             all.size(), unread, total.report())
              << std::flush;
    return total.differences.empty() && total.refused == 0;
  }

  void survey_all() {
    opencl::Work work;
    work.items = items_.size();
    work.group = [](size_t i) { return i / 8; };
    work.same_program = [](size_t, size_t) { return false; };
    work.start = [this] {
      return [this](size_t i) {
        const opencl::CodeObject& object = objects_[items_[i].object];
        return opencl::Verdict{opencl::Outcome::passed,
                               packed(survey(object, object.kernels[items_[i].kernel], options_.survey))};
      };
    };
    work.report = [this](size_t i, const opencl::Verdict& verdict) { add(items_[i], verdict); };
    opencl::run_work(work, {options_.jobs, std::chrono::milliseconds(static_cast<int64_t>(options_.limit * 1000))});
  }

  void add(const Item& item, const opencl::Verdict& verdict) {
    const opencl::Kernel& kernel = objects_[item.object].kernels[item.kernel];
    Finding finding;
    if (verdict.outcome == opencl::Outcome::passed) {
      finding = unpacked(verdict.text);
    } else {
      finding.unread = (verdict.outcome == opencl::Outcome::crashed ? "CRASHED: " : "ended: ") + verdict.text;
      std::cout << finding.unread << " in object " << item.object << ' ' << kernel.name << '\n' << std::flush;
    }
    for (size_t i = 0; i < sums_.size(); ++i) {
      Sums& sums = sums_[i];
      ++sums.kernels;
      if (!finding.unread.empty()) {
        ++sums.reasons[finding.unread];
        continue;
      }
      const LayoutFinding& layout = finding.layouts[i];
      for (const std::string& reason : layout.reasons) ++sums.reasons[reason];
      if (options_.verbose && !layout.reasons.empty()) {
        std::cout << fmt::format("{} (subgroup {}, {} instructions): {}\n", kernel.name, options_.survey.subgroups[i],
                                 finding.instructions, layout.reasons.front());
      }
      if (!layout.translated) continue;
      ++sums.translated;
      sums.valid += layout.valid ? 1 : 0;
      sums.instructions += finding.instructions;
      sums.words += layout.words;
      sums.seconds += layout.seconds;
      sums.dispatchers += layout.dispatcher_loop ? 1 : 0;
      const double each = layout.seconds * 1e6 / static_cast<double>(finding.instructions);
      sums.per_instruction.push_back(each);
      // Short programs cost what every module costs; they say nothing about growth.
      if (finding.instructions >= 500) {
        sums.slowest.emplace(each, fmt::format("{} instructions, {} words, object {} {}", finding.instructions,
                                               layout.words, item.object, kernel.name.substr(0, 100)));
        if (sums.slowest.size() > 5) sums.slowest.erase(std::prev(sums.slowest.end()));
      }
    }
  }

  bool sums() {
    bool good = true;
    for (size_t i = 0; i < sums_.size(); ++i) {
      Sums& sums = sums_[i];
      const uint32_t subgroup = options_.survey.subgroups[i];
      std::ranges::sort(sums.per_instruction);
      const auto at = [&](double part) {
        const size_t n = sums.per_instruction.size();
        return n == 0 ? 0 : sums.per_instruction[std::min(n - 1, static_cast<size_t>(part * static_cast<double>(n)))];
      };
      const uint64_t right = options_.survey.validate ? sums.valid : sums.translated;
      const double percent =
          100.0 * static_cast<double>(right) / static_cast<double>(std::max<uint64_t>(sums.kernels, 1));
      std::cout << fmt::format(
          "subgroup {}: {} kernels, {} translated, {} valid ({:.2f} %), {} with a dispatcher loop; {} instructions in "
          "{:.1f} s, {:.1f} words each; us per instruction: median {:.2f}, 99 % {:.2f}, largest {:.2f}\n",
          subgroup, sums.kernels, sums.translated, sums.valid, percent, sums.dispatchers, sums.instructions,
          sums.seconds, static_cast<double>(sums.words) / static_cast<double>(std::max<uint64_t>(sums.instructions, 1)),
          at(0.5), at(0.99), at(1));
      std::vector<std::pair<uint64_t, std::string>> reasons;
      for (const auto& [reason, count] : sums.reasons) reasons.emplace_back(count, reason);
      std::ranges::sort(reasons, std::greater{});
      for (const auto& [count, reason] : reasons) std::cout << fmt::format("  {:6} kernels: {}\n", count, reason);
      for (const auto& [each, name] : sums.slowest) std::cout << fmt::format("  {:8.2f} us each: {}\n", each, name);
      good = good && percent >= options_.percent;
    }
    return good;
  }

  const Options& options_;
  std::vector<FatBinary> binaries_;
  std::vector<opencl::CodeObject> objects_;
  std::vector<Item> items_;
  std::vector<Sums> sums_;
  uint64_t seen_ = 0, unreadable_objects_ = 0;
};

int run(int argc, char** argv) {
  CLI::App app("Decodes, translates and validates the gfx1030 kernels of HIP libraries.");
  Options options;
  app.add_option("libraries", options.libraries, "shared libraries with fat binaries")->required();
  app.add_option("--subgroup", options.survey.subgroups, "host subgroup widths; 1: a wave in one invocation")
      ->check(CLI::IsMember({1u, 8u, 16u, 32u}));
  app.add_option("--only", options.only, "kernels whose name holds this text");
  app.add_option("--every", options.every, "every n-th kernel only")->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "processes")->check(CLI::PositiveNumber);
  app.add_option("--limit", options.limit, "seconds that a kernel may take");
  app.add_option("--percent", options.percent, "least share of kernels, or this fails");
  app.add_option("--skip-without", options.skip_without, "skip (77) when this folder is not there");
  app.add_flag("--llvm", options.llvm, "every different instruction against LLVM's disassembler too");
  app.add_flag("--decode-only", options.decode_only, "translate nothing");
  app.add_flag("--no-validation", options.no_validation, "do not ask SPIRV-Tools");
  app.add_flag("--verbose", options.verbose, "name the kernels that are refused");
  CLI11_PARSE(app, argc, argv);
  if (!options.skip_without.empty() && !std::filesystem::exists(options.skip_without)) {
    std::cout << "skipped: the libraries were not fetched (" << options.skip_without << " is absent)\n";
    return kSkipped;
  }
  options.survey.validate = !options.no_validation;
  return Survey(options).run();
}

}  // namespace
}  // namespace orrery::corpora

int main(int argc, char** argv) {
  try {
    return orrery::corpora::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 73;
  }
}
